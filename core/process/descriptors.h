/* SPDX-License-Identifier: MIT
 *
 * How many files and sockets the process may hold, and what that means for how many
 * connections it can serve. */
#ifndef LW_PROCESS_DESCRIPTORS_H
#define LW_PROCESS_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

/* Raises the soft limit to the hard one.  Gives the limit that holds now. */
uint64_t lw_descriptors_raise(void);

/* Lowers max_connections to what this many descriptors allow beside what else is open,
 * and says so in the log where it is wanted: one of many workers is enough. */
void lw_descriptors_bound(struct lw_limits *limits, uint64_t descriptors, bool says_so);

#endif
