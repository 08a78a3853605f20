/* SPDX-License-Identifier: MIT
 *
 * The cores that this process may use. */
#ifndef LW_PROCESS_CORES_H
#define LW_PROCESS_CORES_H

#include <stdint.h>

/* Fills in their numbers, at most `most`; how many. */
uint32_t lw_cores_list(uint32_t *cores, uint32_t most);

/* Keeps this process, and those that it starts from now on, on one core, or on these. */
void lw_cores_pin(const uint32_t *cores, uint32_t count);

#endif
