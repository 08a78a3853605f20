/* SPDX-License-Identifier: MIT
 *
 * Queues of deadlines, one a duration, and the timer that looks at their heads. */
#include "net/deadline.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/require.h"

static bool is_empty(const struct lw_deadline_queue *queue)
{
    return queue->head.next == &queue->head;
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
    for (uint32_t i = 0; i < all->queue_count; i++) {
        const struct lw_deadline_queue *queue = all->queues[i];
        if (!is_empty(queue) && queue->head.next->due_ms < next)
            next = queue->head.next->due_ms;
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
    for (uint32_t i = 0; i < all->queue_count; i++) {
        struct lw_deadline_queue *queue = all->queues[i];
        while (!is_empty(queue) && queue->head.next->due_ms <= now) {
            struct lw_deadline *deadline = queue->head.next;
            enum lw_deadline_kind kind = deadline->kind;
            unlink_one(deadline);
            all->passed(deadline, kind);
        }
    }
    start_timer(all);
}

static struct lw_deadline_queue *add_queue(struct lw_deadlines *all,
                                           enum lw_deadline_kind kind,
                                           uint64_t duration_ms)
{
    struct lw_deadline_queue *queue = lw_alloc(sizeof *queue);
    *queue = (struct lw_deadline_queue){.duration_ms = duration_ms};
    queue->head.next = queue->head.prev = &queue->head;
    queue->head.kind = kind;
    all->queues = lw_realloc(all->queues, (all->queue_count + 1) * sizeof(void *));
    all->queues[all->queue_count++] = queue;
    return queue;
}

void lw_deadlines_construct(struct lw_deadlines *all, uv_loop_t *loop,
                            const uint64_t durations_ms[LW_DEADLINE_KINDS],
                            lw_deadline_passed *passed)
{
    uv_timer_init(loop, &all->timer);
    all->timer.data = all;
    all->passed = passed;
    all->queues = NULL;
    all->queue_count = 0;
    for (int kind = 0; kind < LW_DEADLINE_KINDS; kind++)
        add_queue(all, kind, durations_ms[kind]);
}

void lw_deadlines_destruct(struct lw_deadlines *all)
{
    for (uint32_t i = 0; i < all->queue_count; i++)
        free(all->queues[i]);
    free(all->queues);
}

static void append(struct lw_deadlines *all, struct lw_deadline_queue *queue,
                   struct lw_deadline *deadline)
{
    deadline->kind = queue->head.kind;
    deadline->due_ms = uv_now(all->timer.loop) + queue->duration_ms;
    deadline->prev = queue->head.prev;
    deadline->next = &queue->head;
    deadline->prev->next = deadline;
    queue->head.prev = deadline;
    if (!uv_is_active((uv_handle_t *)&all->timer)
        || uv_timer_get_due_in(&all->timer) > queue->duration_ms)
        start_timer(all);
}

void lw_deadline_arm(struct lw_deadlines *all, struct lw_deadline *deadline,
                     enum lw_deadline_kind kind)
{
    if (deadline->kind != LW_DEADLINE_NONE)
        unlink_one(deadline);
    if (kind != LW_DEADLINE_NONE && all->queues[kind]->duration_ms > 0)
        append(all, all->queues[kind], deadline);
}

static struct lw_deadline_queue *find_queue(struct lw_deadlines *all,
                                            enum lw_deadline_kind kind,
                                            uint64_t duration_ms)
{
    for (uint32_t i = LW_DEADLINE_KINDS; i < all->queue_count; i++) {
        struct lw_deadline_queue *queue = all->queues[i];
        if (queue->head.kind == kind && queue->duration_ms == duration_ms)
            return queue;
    }
    return add_queue(all, kind, duration_ms);
}

void lw_deadline_arm_for(struct lw_deadlines *all, struct lw_deadline *deadline,
                         enum lw_deadline_kind kind, uint64_t duration_ms)
{
    lw_require(kind != LW_DEADLINE_NONE);
    if (deadline->kind != LW_DEADLINE_NONE)
        unlink_one(deadline);
    append(all, find_queue(all, kind, duration_ms), deadline);
}
