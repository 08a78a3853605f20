/* SPDX-License-Identifier: MIT
 *
 * Collecting in idle time.  The timer looks whether Lua has had a turn since it last
 * fired.  If not, it runs a slice, and fires again after the next poll: so what arrives
 * waits for one slice at most, and puts the rest off until it is quiet again.  Jobs that
 * finalizers have made ready go on at the end: a turn between two slices might run
 * other finalizers, and what those raise would hit the scheduler. */
#include "host/collector.h"

#include "base/log.h"
#include "share/metrics.h"

#define QUIET_MS      10      /* without a turn: idle */
#define SLICE_NS      1000000 /* a step that is longer can't be cut */
#define LEAST_KIB     1024    /* of new garbage that are worth a collection */
#define LEAST_PERCENT 10      /* of what Lua held after the last one */

static void tell_held(struct lw_collector *collector, uint32_t kib)
{
    double more = ((double)kib - (double)collector->told_kib) * 1024;
    collector->told_kib = kib;
    lw_metrics_add(lw_metrics_own(), LW_METRIC_LUA_BYTES, more);
}

static uint32_t held_kib(struct lw_collector *collector)
{
    uint32_t kib = (uint32_t)lua_gc(collector->lua, LUA_GCCOUNT, 0);
    if (kib != collector->told_kib)
        tell_held(collector, kib);
    return kib;
}

static void count_collection(struct lw_collector *collector)
{
    collector->count++;
    lw_metrics_add(lw_metrics_own(), LW_METRIC_COLLECTIONS, 1);
}

static void note_step(struct lw_collector *collector, uint64_t ns)
{
    struct lw_metrics_slot *slot = lw_metrics_own();
    if (ns <= collector->longest_step_ns)
        return;
    collector->longest_step_ns = ns;
    if ((double)ns / 1e9 > atomic_load(&slot->values[LW_METRIC_LONGEST_STEP]))
        lw_metrics_set(slot, LW_METRIC_LONGEST_STEP, (double)ns / 1e9);
}

/* What is new may be in use: that is known afterwards. */
static bool has_grown(struct lw_collector *collector)
{
    uint32_t held = held_kib(collector);
    if (held < collector->floor_kib)
        collector->floor_kib = held;
    uint32_t grown = held - collector->floor_kib;
    return grown >= LEAST_KIB
           && (uint64_t)grown * 100 >= (uint64_t)collector->floor_kib * LEAST_PERCENT;
}

/* Runs protected: finalizers may raise. */
static int step_for_a_slice(lua_State *lua)
{
    struct lw_collector *collector = lua_touserdata(lua, 1);
    uint64_t began = uv_hrtime();
    uint64_t now = began;
    bool has_ended = false;
    while (!has_ended && now - began < SLICE_NS) {
        uint64_t before = now;
        has_ended = lua_gc(lua, LUA_GCSTEP, 0) != 0;
        now = uv_hrtime();
        note_step(collector, now - before);
    }
    lw_metrics_add(lw_metrics_own(), LW_METRIC_COLLECTING, (double)(now - began) / 1e9);
    collector->has_ended = has_ended;
    return 0;
}

static int collect_all(lua_State *lua)
{
    uint64_t began = uv_hrtime();
    lua_gc(lua, LUA_GCCOLLECT, 0);
    lw_metrics_add(lw_metrics_own(), LW_METRIC_COLLECTING,
                   (double)(uv_hrtime() - began) / 1e9);
    return 0;
}

/* What was raised ends a slice early, and no more.  Nothing here may allocate outside of
 * the protected call, for that could run a finalizer. */
static void call(struct lw_collector *collector, lua_CFunction function)
{
    lua_State *lua = collector->lua;
    if (lua_cpcall(lua, function, collector) == 0)
        return;
    bool is_text = lua_type(lua, -1) == LUA_TSTRING;
    lw_log(LW_LOG_ERROR, "a finalizer failed: %s",
           is_text ? lua_tostring(lua, -1) : "an error without a message");
    lua_pop(lua, 1);
}

static void rest(struct lw_collector *collector)
{
    collector->is_armed = false;
    collector->has_ended_one = false;
}

/* The first end may be that of a collection that had begun long before, and has not
 * seen what became garbage since: then there is a second one, and never a third. */
static void end_one(struct lw_collector *collector)
{
    count_collection(collector);
    if (!collector->has_ended_one && has_grown(collector)) {
        collector->has_ended_one = true;
        return;
    }
    collector->floor_kib = held_kib(collector);
    rest(collector);
}

static void on_timer(uv_timer_t *timer)
{
    struct lw_collector *collector = timer->data;
    bool is_quiet = collector->turns == collector->seen_turns;
    collector->seen_turns = collector->turns;
    if (!is_quiet) {
        if (has_grown(collector))
            uv_timer_start(timer, on_timer, QUIET_MS, 0);
        else
            rest(collector);
        return;
    }
    if (!lua_gc(collector->lua, LUA_GCISRUNNING, 0)) { /* the app has stopped it */
        rest(collector);
        return;
    }
    collector->has_ended = false;
    call(collector, step_for_a_slice);
    if (collector->has_ended) {
        end_one(collector);
        *collector->has_more = true;
        collector->seen_turns++; /* the turn that this asks for is no work */
    }
    uv_update_time(timer->loop); /* it is no part of the turn that follows */
    if (collector->is_armed)
        uv_timer_start(timer, on_timer, 0, 0);
}

void lw_collector_construct(struct lw_collector *collector, uv_loop_t *uv,
                            lua_State *lua, bool *has_more)
{
    *collector = (struct lw_collector){.lua = lua, .has_more = has_more};
    uv_timer_init(uv, &collector->timer);
    collector->timer.data = collector;
}

static void on_close(uv_handle_t *handle)
{
    struct lw_collector *collector = handle->data;
    collector->is_closed = true;
}

void lw_collector_close(struct lw_collector *collector)
{
    tell_held(collector, 0);
    uv_close((uv_handle_t *)&collector->timer, on_close);
}

void lw_collector_count_turn(struct lw_collector *collector)
{
    collector->turns++;
    lw_metrics_add(lw_metrics_own(), LW_METRIC_TURNS, 1);
    if (collector->is_armed || !has_grown(collector))
        return;
    collector->is_armed = true;
    collector->seen_turns = collector->turns;
    uv_timer_start(&collector->timer, on_timer, QUIET_MS, 0);
}

void lw_collector_run(struct lw_collector *collector)
{
    call(collector, collect_all);
    count_collection(collector);
    collector->floor_kib = held_kib(collector);
}
