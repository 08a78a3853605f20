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
    16 /* of requests in one turn; then the clock is read once more */

/* Requests of one template that have begun at the same time. */
struct lw_ended {
    uint64_t began_ns;
    uint32_t label;
    uint32_t count;
};

struct lw_tally {
    const struct lw_metrics *metrics;
    struct lw_metrics_slot *slot; /* of this process */
    uint64_t now_ns;              /* since octets were first read in this turn, or 0 */
    uint32_t series;              /* of the request that ended last */
    uint32_t label;               /* likewise */
    uint32_t count;
    struct lw_ended ended[LW_TALLY_KINDS]; /* in this turn */
};

void lw_tally_construct(struct lw_tally *tally);

/* Reads the clock, where that is the first time in this turn: nanoseconds that never go
 * back. */
uint64_t lw_tally_look(struct lw_tally *tally);

static inline uint64_t lw_tally_now(struct lw_tally *tally)
{
    return tally->now_ns ? tally->now_ns : lw_tally_look(tally);
}

/* Counts a request that has ended; status 0: without an answer. */
void lw_tally_request(struct lw_tally *tally, struct luaweb_slice method, int status,
                      uint32_t label, uint64_t began_ns);

/* Counts one like another that began just now. */
void lw_tally_again(struct lw_tally *tally, uint32_t series, uint32_t label);

/* Counts octets that were refused; `why` is a static sentence. */
void lw_tally_refusal(struct lw_tally *tally, int status, const char *why);

/* The turn has ended. */
void lw_tally_settle(struct lw_tally *tally);

/* Counts one more, or some. */
static inline void lw_tally_add(struct lw_tally *tally, enum lw_metric metric,
                                double by)
{
    lw_metrics_add(tally->slot, metric, by);
}

#endif
