/* SPDX-License-Identifier: MIT
 *
 * Deadlines of connections.  Those of one duration are a queue in order of arming: the
 * first one is always the next one due, and arming, re-arming and disarming cost a few
 * pointer writes.  Each kind has a queue, and so has each duration of the kinds that
 * apps set.  One uv_timer_t serves all. */
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
    LW_DEADLINE_REQUEST, /* a handler takes too long; each machine has its own */
    LW_DEADLINE_GRACE,   /* the client has ended its stream; likewise */
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

struct lw_deadline_queue {
    struct lw_deadline head; /* sentinel */
    uint64_t duration_ms;    /* 0: never */
};

struct lw_deadlines {
    uv_timer_t timer;
    struct lw_deadline_queue **queues; /* owned; first those of the kinds */
    uint32_t queue_count;
    lw_deadline_passed *passed;
};

void lw_deadlines_construct(struct lw_deadlines *all, uv_loop_t *loop,
                            const uint64_t durations_ms[LW_DEADLINE_KINDS],
                            lw_deadline_passed *passed);
void lw_deadlines_destruct(struct lw_deadlines *all);

/* Starts the deadline anew (LW_DEADLINE_NONE: disarms it). */
void lw_deadline_arm(struct lw_deadlines *all, struct lw_deadline *deadline,
                     enum lw_deadline_kind kind);

/* The same with a duration of its own; 0 passes at once.  There may be as many durations
 * as machines that declare one, no more: their queues stay. */
void lw_deadline_arm_for(struct lw_deadlines *all, struct lw_deadline *deadline,
                         enum lw_deadline_kind kind, uint64_t duration_ms);

#endif
