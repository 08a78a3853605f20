/* SPDX-License-Identifier: MIT
 *
 * Timers on uv_timer_t. */
#include "net/timer.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/require.h"
#include "net/loop.h"

struct lw_timer {
    uv_timer_t uv;
    struct lw_loop *loop;
    struct lw_timer *next_free;
    uint32_t id;
    bool has_fired;
};

static void give_back(struct lw_timer *timer)
{
    struct lw_loop *loop = timer->loop;
    lw_loop_drop_id(loop, timer->id);
    loop->timer_count--;
    lw_tally_add(&loop->tally, LW_METRIC_TIMERS, -1);
    timer->next_free = loop->free_timers;
    loop->free_timers = timer;
}

/* The number stays taken until the wake has reached Lua: else another timer could get
 * it and be woken, or stopped, in place of this one. */
static void on_timer(uv_timer_t *uv)
{
    struct lw_timer *timer = uv->data;
    timer->has_fired = true;
    lw_loop_wake(timer->loop, timer->id);
}

void lw_timer_woke(struct lw_loop *loop, uint32_t id)
{
    struct lw_timer *timer = lw_loop_find_id(loop, LW_ID_TIMER, id);
    if (timer && timer->has_fired)
        give_back(timer);
}

static struct lw_timer *take(struct lw_loop *loop)
{
    struct lw_timer *timer = loop->free_timers;
    if (timer) {
        loop->free_timers = timer->next_free;
        return timer;
    }
    timer = lw_alloc(sizeof *timer);
    uv_timer_init(&loop->uv, &timer->uv);
    timer->uv.data = timer;
    timer->loop = loop;
    return timer;
}

uint32_t lw_timer_start(struct lw_loop *loop, struct lw_owner *owner, double seconds)
{
    const double longest = 1e9;
    struct lw_timer *timer = take(loop);
    timer->has_fired = false;
    timer->id = lw_loop_add_id(loop, owner, LW_ID_TIMER, timer);
    loop->timer_count++;
    lw_tally_add(&loop->tally, LW_METRIC_TIMERS, 1);
    if (!(seconds > 0)) {
        uv_timer_start(&timer->uv, on_timer, 0, 0);
        return timer->id;
    }
    if (seconds > longest)
        seconds = longest;
    /* From now, not from when the turn began, and never early: libuv counts whole
     * milliseconds. */
    uint64_t due_ns = uv_hrtime() + (uint64_t)(seconds * 1e9);
    uint64_t due_ms = (due_ns + 999999) / 1000000;
    uint64_t now_ms = uv_now(&loop->uv);
    uv_timer_start(&timer->uv, on_timer, due_ms > now_ms ? due_ms - now_ms : 0, 0);
    return timer->id;
}

void lw_timer_stop(struct lw_loop *loop, uint32_t id)
{
    struct lw_timer *timer = lw_loop_find_id(loop, LW_ID_TIMER, id);
    if (!timer || timer->has_fired)
        return; /* its wake is on its way, and ends it */
    uv_timer_stop(&timer->uv);
    give_back(timer);
}

uint64_t lw_timer_left_ms(const struct lw_loop *loop, uint32_t id)
{
    const struct lw_timer *timer = lw_loop_find_id(loop, LW_ID_TIMER, id);
    return timer && !timer->has_fired ? uv_timer_get_due_in(&timer->uv) : 0;
}

void lw_timer_stop_all(struct lw_loop *loop, struct lw_owner *owner)
{
    for (uint32_t id = 0; id < loop->id_count; id++) {
        struct lw_timer *timer = lw_loop_find_own(loop, owner, LW_ID_TIMER, id);
        if (!timer)
            continue;
        uv_timer_stop(&timer->uv);
        give_back(timer);
    }
}

static void on_close(uv_handle_t *handle)
{
    free(handle->data);
}

void lw_timer_close_all(struct lw_loop *loop)
{
    lw_require(loop->timer_count == 0);
    while (loop->free_timers) {
        struct lw_timer *timer = loop->free_timers;
        loop->free_timers = timer->next_free;
        uv_close((uv_handle_t *)&timer->uv, on_close);
    }
}
