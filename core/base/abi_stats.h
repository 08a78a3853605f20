/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua: looking into a worker while it runs.  For the rules,
 * see abi.h.
 */

#ifndef LW_BASE_ABI_STATS_H
#define LW_BASE_ABI_STATS_H

#include "base/abi.h"

/* Numbers of a worker; times in seconds. */
struct luaweb_stats {
    double longest_turn; /* in whole milliseconds, since its app was loaded */
    double longest_step; /* of the collector in idle time */
    double collections;  /* whole ones: in idle time, and when memory was short */
    uint32_t timers;     /* that run, or whose wakes are on their way */
};
void luaweb_stats(struct luaweb_host *host, struct luaweb_stats *stats);

/* What is waited for under an id. */
enum luaweb_awaited {
    LUAWEB_AWAITED_NOTHING,
    LUAWEB_AWAITED_TIMER,
    LUAWEB_AWAITED_SOCKET,
    LUAWEB_AWAITED_HASH,
    LUAWEB_AWAITED_CONTENT, /* of a request */
    LUAWEB_AWAITED_ROOM     /* for more of the answer to a request */
};
int luaweb_awaited(struct luaweb_host *host, uint32_t id);

/* Seconds until this timer is due; 0 where it was due, or is no timer. */
double luaweb_timer_left(struct luaweb_host *host, uint32_t id);

#endif
