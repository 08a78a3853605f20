/* SPDX-License-Identifier: MIT
 *
 * Starting and stopping LuaJIT's profiler, with a timer of ours.  Line mode ("l") has
 * compiled code look at every line whether the profiler wants something; without it a
 * compiled loop is never left.  LuaJIT's own timer sends SIGPROF to whichever thread
 * runs, and its handler is right in one of them only: ours is for that thread. */
#include "host/profiler.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/require.h"

#ifdef sigev_notify_thread_id
#    define THREAD_ID sigev_notify_thread_id
#else
#    define THREAD_ID _sigev_un._tid /* glibc has no name for it */
#endif

/* Who has it; as LuaJIT's, there is one in a process. */
static struct {
    lua_State *owner;    /* a main state; NULL: nobody */
    lua_State *prepared; /* whose mode is set beside an owner; NULL: none */
    timer_t timer;
    bool has_timer;
} profiler;

static void look_away(void *context, lua_State *lua, int samples, int vm_state)
{
    (void)context;
    (void)lua;
    (void)samples;
    (void)vm_state;
}

static void stop_timer(void)
{
    if (profiler.has_timer)
        timer_delete(profiler.timer);
    profiler.has_timer = false;
}

static void start_timer(struct lw_profiler_times times)
{
    unsigned ms = times.interval_ms;
    struct timespec interval = {ms / 1000, ms % 1000 * 1000000L};
    struct itimerspec again = {interval, interval};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    event.THREAD_ID = (int)syscall(SYS_gettid);
    stop_timer();
    lw_require(timer_create(times.clock, &event, &profiler.timer) == 0);
    profiler.has_timer = true;
    timer_settime(profiler.timer, 0, &again, NULL);
}

/* With "l", what was compiled before is thrown away. */
static void start(lua_State *lua, const char *mode, luaJIT_profile_callback look,
                  void *context)
{
    static const struct itimerval none;
    luaJIT_profile_start(lua, mode, look, context);
    setitimer(ITIMER_PROF, &none, NULL);
}

bool lw_profiler_prepare(lua_State *lua)
{
    start(lua, "l", look_away, NULL);
    if (profiler.owner)
        profiler.prepared = lua; /* LuaJIT has set the mode and done no more */
    else
        profiler.owner = lua;
    return profiler.owner == lua;
}

void lw_profiler_start(lua_State *lua, luaJIT_profile_callback look, void *context,
                       struct lw_profiler_times times)
{
    bool is_prepared = profiler.prepared == lua;
    if (profiler.owner == lua && profiler.has_timer)
        return;
    if (profiler.owner) /* or LuaJIT would refuse, or forget the mode */
        lw_profiler_stop(profiler.owner);
    start(lua, is_prepared ? "" : "l", look, context);
    profiler.owner = lua;
    profiler.prepared = NULL;
    start_timer(times);
}

void lw_profiler_stop(lua_State *lua)
{
    if (profiler.prepared == lua)
        profiler.prepared = NULL;
    if (profiler.owner != lua)
        return;
    stop_timer();
    luaJIT_profile_stop(lua);
    profiler.owner = NULL;
}
