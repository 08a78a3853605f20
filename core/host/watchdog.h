/* SPDX-License-Identifier: MIT
 *
 * Says what holds up the loop when Lua does not return.  It looks from inside (the
 * profiler, host/profiler.h), which finds Lua code at its line; and when who watches
 * the process asks (LW_SIGNAL_STALLED), which finds calls of C functions that do not
 * return.  Nothing is noted for it while requests are served: Lua is asked what runs
 * when it is to be told. */
#ifndef LW_HOST_WATCHDOG_H
#define LW_HOST_WATCHDOG_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

struct lw_limits;

/* The exit code of a process that was asked to say what holds it up. */
#define LW_EXIT_STALLED 5

/* Of one Lua state.  Times are milliseconds of CLOCK_MONOTONIC, as on the board; a
 * turn is known by when it began. */
struct lw_watchdog {
    lua_State *lua;
    lua_State *teller;   /* in which Lua is asked while another coroutine runs */
    uint32_t *budget;    /* events that Lua may still take in this turn; the host's */
    uint64_t timeout_ms; /* 0: none */
    uint64_t warning_ms; /* 0: none */
    uint32_t entered;    /* events that had been taken when Lua was entered */
    uint64_t turn;       /* that was looked at last */
    uint32_t pulled;     /* events that had been taken then */
    uint64_t since;      /* then or after it, what runs has begun */
    uint64_t told;       /* `since` of what was said to take too long */
    uint64_t warned;
    bool is_wanted; /* to look from inside */
    bool is_asking;
};

/* The process that has started this one sends LW_SIGNAL_STALLED when it has
 * to.  Without it, what stands still in Lua for too long ends by itself. */
void lw_watchdog_know_master(void);

/* Prepares a state that has not run anything; `budget` is held.  The first one in
 * the process is looked into at once, another one when it begins to serve. */
void lw_watchdog_construct(struct lw_watchdog *watchdog, lua_State *lua,
                           const struct lw_limits *limits, uint32_t *budget);

/* Looks into this state, and no longer into the one before. */
void lw_watchdog_serve(struct lw_watchdog *watchdog);

/* Takes the function that is asked (stall.look of lua/luaweb/stall.lua) from the top of
 * the state's stack. */
void lw_watchdog_take(struct lw_watchdog *watchdog);

/* Before lua_close. */
void lw_watchdog_destruct(struct lw_watchdog *watchdog);

/* To be called around every entry of Lua in a turn. */
void lw_watchdog_enter(struct lw_watchdog *watchdog);
void lw_watchdog_leave(void);

/* To be called for each event that Lua takes: the turn may be long, but work goes
 * on. */
void lw_watchdog_count(void);

#endif
