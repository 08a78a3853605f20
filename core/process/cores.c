/* SPDX-License-Identifier: MIT
 *
 * Reads and sets the affinity of the process. */
#include "process/cores.h"

#include <sched.h>

uint32_t lw_cores_list(uint32_t *cores, uint32_t most)
{
    cpu_set_t set;
    uint32_t count = 0;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        for (uint32_t core = 0; core < CPU_SETSIZE && count < most; core++)
            if (CPU_ISSET(core, &set))
                cores[count++] = core;
    if (count == 0)
        cores[count++] = 0;
    return count;
}

void lw_cores_pin(const uint32_t *cores, uint32_t count)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (uint32_t i = 0; i < count; i++)
        CPU_SET(cores[i], &set);
    sched_setaffinity(0, sizeof set, &set);
}
