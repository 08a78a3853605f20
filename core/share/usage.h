/* SPDX-License-Identifier: MIT
 *
 * What the system knows of a process of ours (Linux, /proc). */
#ifndef LW_SHARE_USAGE_H
#define LW_SHARE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

/* What the system does not tell is negative. */
struct lw_usage {
    double cpu_s;       /* user and system time */
    double resident;    /* octets of memory */
    double descriptors; /* that are open; of another user's process only root is told */
    double threads;
};

/* false: there is no such process. */
bool lw_usage_read(int32_t pid, struct lw_usage *usage);

#endif
