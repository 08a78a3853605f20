/* SPDX-License-Identifier: MIT
 *
 * Queues of deadlines, one a kind, and the timer that looks at their heads. */
#include "net/deadline.h"

#include <stdbool.h>

static bool is_empty(const struct lw_deadline *queue)
{
    return queue->next == queue;
}

static void unlink_one(struct lw_deadline *deadline)
{
    deadline->prev->next = deadline->next;
    deadline->next->prev = deadline->prev;
    deadline->kind = LW_DEADLINE_NONE;
}

static void on_timer(uv_timer_t *timer);

static void start_timer(struct lw_deadlines *all)
{
    uint64_t next = UINT64_MAX;
    for (int kind = 1; kind < LW_DEADLINE_KINDS; kind++) {
        struct lw_deadline *queue = &all->queues[kind];
        if (!is_empty(queue) && queue->next->due_ms < next)
            next = queue->next->due_ms;
    }
    if (next == UINT64_MAX)
        return;
    uint64_t now = uv_now(all->timer.loop);
    uv_timer_start(&all->timer, on_timer, next > now ? next - now : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct lw_deadlines *all = timer->data;
    uint64_t now = uv_now(timer->loop);
    for (int kind = 1; kind < LW_DEADLINE_KINDS; kind++) {
        struct lw_deadline *queue = &all->queues[kind];
        while (!is_empty(queue) && queue->next->due_ms <= now) {
            struct lw_deadline *deadline = queue->next;
            unlink_one(deadline);
            all->passed(deadline, kind);
        }
    }
    start_timer(all);
}

void lw_deadlines_construct(struct lw_deadlines *all, uv_loop_t *loop,
                            const uint64_t durations_ms[LW_DEADLINE_KINDS],
                            lw_deadline_passed *passed)
{
    uv_timer_init(loop, &all->timer);
    all->timer.data = all;
    all->passed = passed;
    for (int kind = 0; kind < LW_DEADLINE_KINDS; kind++) {
        struct lw_deadline *queue = &all->queues[kind];
        queue->next = queue->prev = queue;
        all->durations_ms[kind] = durations_ms[kind];
    }
}

void lw_deadline_arm(struct lw_deadlines *all, struct lw_deadline *deadline,
                     enum lw_deadline_kind kind)
{
    if (deadline->kind != LW_DEADLINE_NONE)
        unlink_one(deadline);
    if (kind == LW_DEADLINE_NONE || all->durations_ms[kind] == 0)
        return;
    struct lw_deadline *queue = &all->queues[kind];
    deadline->kind = kind;
    deadline->due_ms = uv_now(all->timer.loop) + all->durations_ms[kind];
    deadline->prev = queue->prev;
    deadline->next = queue;
    queue->prev->next = deadline;
    queue->prev = deadline;
    if (!uv_is_active((uv_handle_t *)&all->timer)
        || uv_timer_get_due_in(&all->timer) > all->durations_ms[kind])
        start_timer(all);
}
