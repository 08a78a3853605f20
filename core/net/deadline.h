/* SPDX-License-Identifier: MIT
 *
 * Deadlines of connections.  Every kind has one duration, so each kind is a queue in
 * order of arming: the first one is always the next one due, and arming, re-arming and
 * disarming cost a few pointer writes.  One uv_timer_t serves all. */
#ifndef LW_NET_DEADLINE_H
#define LW_NET_DEADLINE_H

#include <stdint.h>
#include <uv.h>

enum lw_deadline_kind {
    LW_DEADLINE_NONE,
    LW_DEADLINE_IDLE,    /* waiting for a request */
    LW_DEADLINE_HEADER,  /* its head has begun */
    LW_DEADLINE_BODY,    /* its content does not come */
    LW_DEADLINE_WRITE,   /* the client does not read */
    LW_DEADLINE_REQUEST, /* a handler takes too long */
    LW_DEADLINE_LINGER,  /* all is said; waiting for the client to close */
    LW_DEADLINE_KINDS
};

struct lw_deadline {
    struct lw_deadline *prev;
    struct lw_deadline *next;
    uint64_t due_ms;
    enum lw_deadline_kind kind;
};

typedef void lw_deadline_passed(struct lw_deadline *deadline,
                                enum lw_deadline_kind kind);

struct lw_deadlines {
    uv_timer_t timer;
    struct lw_deadline queues[LW_DEADLINE_KINDS]; /* sentinels */
    uint64_t durations_ms[LW_DEADLINE_KINDS];
    lw_deadline_passed *passed;
};

void lw_deadlines_construct(struct lw_deadlines *all, uv_loop_t *loop,
                            const uint64_t durations_ms[LW_DEADLINE_KINDS],
                            lw_deadline_passed *passed);

/* Starts the deadline anew (LW_DEADLINE_NONE: disarms it). */
void lw_deadline_arm(struct lw_deadlines *all, struct lw_deadline *deadline,
                     enum lw_deadline_kind kind);

#endif
