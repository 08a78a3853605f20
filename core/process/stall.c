/* SPDX-License-Identifier: MIT
 *
 * The report of a worker that stands still. */
#include "process/stall.h"

#include "base/log.h"

void lw_stall_say(const struct lw_slot *slot, uint32_t number, uint64_t since_ms)
{
    lw_log(LW_LOG_ERROR,
           "worker %u (pid %d) has stood still for %llu ms (--stall-timeout): it is "
           "replaced",
           number + 1, slot->pid, (unsigned long long)since_ms);
}
