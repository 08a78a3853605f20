/* SPDX-License-Identifier: MIT
 *
 * What a loop counts of its requests (share/metrics.h), as cheaply as can be.  The clock
 * is read twice in a turn, where the first octets are read and when all is sent, and
 * tells how long the requests took that ended in it: what a client waits for is that
 * end, since all answers of a turn leave together. */
#ifndef LW_NET_TALLY_H
#define LW_NET_TALLY_H

#include <stdint.h>

#include "base/abi.h"
#include "share/metrics.h"

#define LW_TALLY_KINDS \
    32 /* of requests in one turn; then the clock is read once more */

/* Requests of one kind that have begun at the same time. */
struct lw_ended {
    uint64_t began_ns;
    uint32_t key; /* of their series */
    uint32_t count;
};

struct lw_tally {
    const struct lw_metrics *metrics;
    struct lw_metrics_slot *slot; /* of this process */
    uint64_t now_ns;              /* since octets were first read in this turn, or 0 */
    uint32_t running;             /* requests that Lua was asked for */
    uint32_t told_running;
    struct lw_ended last; /* in this turn; key 0: none */
    uint32_t count;       /* of those before it */
    struct lw_ended ended[LW_TALLY_KINDS];
};

void lw_tally_construct(struct lw_tally *tally);

/* Reads the clock, where that is the first time in this turn: nanoseconds that never go
 * back. */
__attribute__((noinline)) uint64_t lw_tally_look(struct lw_tally *tally);

static inline uint64_t lw_tally_now(struct lw_tally *tally)
{
    return tally->now_ns ? tally->now_ns : lw_tally_look(tally);
}

/* Counts a request that has ended and is of another kind than the last one.  Apart, so
 * that the usual case needs no room on the stack. */
__attribute__((noinline)) void lw_tally_begin(struct lw_tally *tally, uint32_t key,
                                              uint64_t began_ns);

/* Counts a request that has ended; the last ones of a turn are often alike. */
static inline void lw_tally_end(struct lw_tally *tally, uint32_t key, uint64_t began_ns)
{
    if (tally->last.key == key && tally->last.began_ns == began_ns)
        tally->last.count++;
    else
        lw_tally_begin(tally, key, began_ns);
}

/* Of the requests that a connection has had in a turn, all but the first were pipelined:
 * they had come before its answer was sent.  `seen`: how many it had had before. */
static inline void lw_tally_pipelined(struct lw_tally *tally, uint64_t *seen,
                                      uint64_t served)
{
    if (served > *seen + 1)
        lw_metrics_add(tally->slot, LW_METRIC_PIPELINED, (double)(served - *seen - 1));
    *seen = served;
}

/* Counts octets that were refused; `why` is a static sentence. */
void lw_tally_refusal(struct lw_tally *tally, int status, const char *why);

/* Shows how many requests run, in front of a turn of Lua: it may last. */
static inline void lw_tally_show(struct lw_tally *tally)
{
    if (tally->running == tally->told_running)
        return;
    tally->told_running = tally->running;
    lw_metrics_set(tally->slot, LW_METRIC_RUNNING, tally->running);
}

/* The turn has ended. */
void lw_tally_settle(struct lw_tally *tally);

/* Counts one more, or some. */
static inline void lw_tally_add(struct lw_tally *tally, enum lw_metric metric,
                                double by)
{
    lw_metrics_add(tally->slot, metric, by);
}

#endif
