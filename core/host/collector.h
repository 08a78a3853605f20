/* SPDX-License-Identifier: MIT
 *
 * Collects Lua's garbage while there is nothing else to do: in slices of a millisecond,
 * and only where there is enough new garbage since the last time, so that a worker that
 * rests uses no processor.  Under load the collector of Lua goes its own way. */
#ifndef LW_HOST_COLLECTOR_H
#define LW_HOST_COLLECTOR_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct lw_collector {
    uv_timer_t timer; /* runs while there is enough garbage only */
    lua_State *lua;
    bool *has_more;           /* of the host: finalizers may have made jobs ready */
    uint64_t turns;           /* of Lua so far */
    uint64_t seen_turns;      /* when the timer last fired */
    uint64_t longest_step_ns; /* what a slice is made of, since the start */
    uint64_t count;           /* collections that have ended */
    uint32_t floor_kib;       /* the least that Lua held since the last one */
    uint32_t told_kib;        /* what the metrics say that it holds */
    bool is_armed;
    bool has_ended;     /* the last slice ended a collection */
    bool has_ended_one; /* of the two that it may take, see collector.c */
    bool is_closed;     /* the loop has no part of it any more */
};

/* `has_more` is held until lw_collector_close. */
void lw_collector_construct(struct lw_collector *collector, uv_loop_t *uv,
                            lua_State *lua, bool *has_more);

/* A turn of Lua is over. */
void lw_collector_count_turn(struct lw_collector *collector);

/* Closes its timer: is_closed tells when it may be freed. */
void lw_collector_close(struct lw_collector *collector);

/* Collects all there is, at once.  What finalizers raise is logged. */
void lw_collector_run(struct lw_collector *collector);

#endif
