/* SPDX-License-Identifier: MIT
 *
 * What is said of a worker that stands still, before it is killed. */
#ifndef LW_PROCESS_STALL_H
#define LW_PROCESS_STALL_H

#include <stdint.h>

#include "share/board.h"

/* Logs that worker `number` (from 0), whose slot this is, has stood still for so long. */
void lw_stall_say(const struct lw_slot *slot, uint32_t number, uint64_t since_ms);

#endif
