/* SPDX-License-Identifier: MIT
 *
 * The limit of descriptors (ulimit -n, RLIMIT_NOFILE). */
#include "process/descriptors.h"

#include <sys/resource.h>

#include "base/log.h"

#define RESERVED 64 /* for listeners, the loop, logs and what the app opens */

uint64_t lw_descriptors_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return UINT64_MAX;
    struct rlimit raised = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0)
        return limit.rlim_cur;
    return raised.rlim_cur;
}

void lw_descriptors_bound(struct lw_limits *limits, uint64_t descriptors, bool says_so)
{
    uint64_t half = descriptors / 2;
    uint64_t reserved = half < RESERVED ? half : RESERVED;
    uint64_t most = descriptors - reserved;
    if (most >= limits->max_connections)
        return;
    limits->max_connections = most;
    if (says_so)
        lw_log(LW_LOG_INFO, "at most %llu connections: ulimit -n is %llu",
               (unsigned long long)most, (unsigned long long)descriptors);
}
