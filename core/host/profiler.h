/* SPDX-License-Identifier: MIT
 *
 * LuaJIT's profiler: the only way to look at Lua code that does not return, compiled
 * or not, at a line.  There is one in a process, which one Lua state has at a time;
 * LuaJIT silently refuses it to a second one, so it is handed on here.  It knows
 * nothing of what is looked for: that is host/watchdog.h. */
#ifndef LW_HOST_PROFILER_H
#define LW_HOST_PROFILER_H

#include <lua.h>
#include <luajit.h>
#include <stdbool.h>
#include <time.h>

/* What a state compiles from now on can be looked into once it has the profiler.  To be
 * called before it runs anything.  true: it has the profiler now, since nobody had. */
bool lw_profiler_prepare(lua_State *lua);

/* When to look: each time that so much has passed on a clock. */
struct lw_profiler_times {
    clockid_t clock; /* CLOCK_THREAD_CPUTIME_ID: of the calling thread */
    unsigned interval_ms;
};

/* Has look(context, L, ...) called at these times, in the calling thread, between
 * two instructions of L: `lua`, which was prepared, or one of its coroutines.  There
 * it may call Lua, in another coroutine than L.  Takes the profiler from the state
 * that has it: what that one has compiled is thrown away.  Does nothing where `lua`
 * was started before. */
void lw_profiler_start(lua_State *lua, luaJIT_profile_callback look, void *context,
                       struct lw_profiler_times times);

/* Gives the profiler back, if this state has it; before lua_close. */
void lw_profiler_stop(lua_State *lua);

#endif
