/* SPDX-License-Identifier: MIT
 *
 * Looking from inside: `look` runs between two instructions of Lua, so Lua can be asked
 * in another coroutine.  Asked from outside: `on_stalled` runs anywhere in whatever Lua
 * has called, which mostly is fine, as for all of Lua it is within a call of a C
 * function; where it is not, the process may crash or hang, and ends as it has to end
 * anyway. */
#include "host/watchdog.h"

#include <luajit.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "base/limits.h"
#include "base/log.h"
#include "host/profiler.h"
#include "share/board.h"

#define LOOK_MS      100 /* between two looks, at most */
#define LONG_TURN_MS 100 /* then the turn is to end as soon as a task does */
#define LAST_SECONDS 1   /* that a process which was asked may still take */

/* As lua/luaweb/stall.lua names them. */
enum why {
    WHY_LONG, /* nothing is to be said: the turn is long */
    WHY_WARNING,
    WHY_TIMEOUT
};

/* Where the function that is asked lies in the registry, and the coroutine. */
static const char look_key = 0;
static const char teller_key = 0;

/* What the signal handler may touch: whose Lua runs. */
static struct lw_watchdog *volatile running;

/* Who ends this process where it stands still; 0: nobody does. */
static pid_t master;

static uint64_t turn_began(void)
{
    return atomic_load_explicit(&lw_board_own()->turn_began_ms, memory_order_relaxed);
}

static uint32_t pulled(void)
{
    return atomic_load_explicit(&lw_board_own()->pulled, memory_order_relaxed);
}

static uint64_t passed_ms(uint64_t since)
{
    uint64_t now = uv_hrtime() / 1000000;
    return now > since ? now - since : 0;
}

/* For how long one thing has run: all of the turn where it is the first one, else not
 * longer than since the last look, after which another event was taken. */
static uint64_t held_ms(struct lw_watchdog *watchdog, uint64_t began)
{
    uint64_t turn_ms = passed_ms(began);
    uint32_t count = pulled();
    if (watchdog->turn != began) {
        watchdog->turn = watchdog->since = began;
        watchdog->pulled = watchdog->entered + 1;
    }
    if ((int32_t)(count - watchdog->pulled) > 0) {
        watchdog->pulled = count;
        watchdog->since = began + (turn_ms > LOOK_MS ? turn_ms - LOOK_MS : 0);
    }
    return passed_ms(watchdog->since);
}

/* Asks Lua, and logs what it gives.  `where`: the coroutine that stands still, or
 * NULL. */
static void ask(struct lw_watchdog *watchdog, lua_State *where, enum why why,
                uint64_t held)
{
    lua_State *teller = watchdog->teller;
    watchdog->is_asking = true;
    lua_pushlightuserdata(teller, (void *)&look_key);
    lua_rawget(teller, LUA_REGISTRYINDEX);
    lua_pushnumber(teller, (lua_Number)why);
    lua_pushnumber(teller, (lua_Number)held / 1000);
    if (where) {
        lua_pushthread(where);
        lua_xmove(where, teller, 1);
    }
    lua_pcall(teller, where ? 3 : 2, 1, 0);
    size_t size;
    const char *text =
        lua_type(teller, -1) == LUA_TSTRING ? lua_tolstring(teller, -1, &size) : NULL;
    if (text)
        lw_log_text(why == WHY_TIMEOUT ? LW_LOG_ERROR : LW_LOG_WARN, text, size);
    lua_settop(teller, 0);
    watchdog->is_asking = false;
}

/* Each is said once of what runs. */
static enum why why_now(struct lw_watchdog *watchdog, uint64_t held)
{
    if (watchdog->timeout_ms && held >= watchdog->timeout_ms
        && watchdog->told != watchdog->since) {
        watchdog->told = watchdog->since;
        return WHY_TIMEOUT;
    }
    if (watchdog->warning_ms && held >= watchdog->warning_ms
        && watchdog->warned != watchdog->since && watchdog->told != watchdog->since) {
        watchdog->warned = watchdog->since;
        return WHY_WARNING;
    }
    return WHY_LONG;
}

/* A trace that is being recorded would go on with what is asked here: any call of
 * luaJIT_setmode, this one does nothing else, gives it up. */
static void look(void *context, lua_State *lua, int samples, int vm_state)
{
    struct lw_watchdog *watchdog = context;
    uint64_t began = turn_began();
    (void)samples;
    (void)vm_state;
    if (began == 0 || watchdog->is_asking)
        return;
    uint64_t held = held_ms(watchdog, began);
    enum why why = why_now(watchdog, held);
    if (why == WHY_LONG && passed_ms(began) < LONG_TURN_MS)
        return;
    *watchdog->budget = 0;
    luaJIT_setmode(watchdog->teller, 0, LUAJIT_MODE_TRACE);
    ask(watchdog, lua, why, held);
    if (watchdog->told == watchdog->since && master && getppid() != master)
        _exit(LW_EXIT_STALLED); /* it would go on for ever, unseen */
}

/* Fails in a finalizer. */
static int stop_compiling(lua_State *lua)
{
    luaJIT_setmode(lua, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    return 0;
}

/* Crashed or stuck while it was asked: the state is in the middle of something. */
static void on_worse(int number)
{
    static const char text[] =
        "luaweb: a turn takes too long, and what holds it up can't "
        "be told: it is inside of LuaJIT itself\n";
    (void)number;
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(LW_EXIT_STALLED);
}

static void brace(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM};
    struct sigaction action = {.sa_handler = on_worse, .sa_flags = SA_NODEFER};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
    alarm(LAST_SECONDS);
}

/* The turn may have ended in the meantime: then there is nothing to say. */
static void on_stalled(int number)
{
    struct lw_watchdog *watchdog = running;
    uint64_t began = turn_began();
    (void)number;
    if (began == 0 || (watchdog && watchdog->is_asking))
        return;
    brace();
    uint64_t held = watchdog ? held_ms(watchdog, began) : passed_ms(began);
    if (!watchdog) {
        lw_log(LW_LOG_ERROR, "a turn takes %.1f s, and it is not Lua that holds it up",
               (double)held / 1000);
    } else if (watchdog->told != watchdog->since) {
        lua_gc(watchdog->lua, LUA_GCSTOP, 0);
        lua_cpcall(watchdog->teller, stop_compiling, NULL);
        ask(watchdog, NULL, WHY_TIMEOUT, held);
    }
    _exit(LW_EXIT_STALLED);
}

void lw_watchdog_know_master(void)
{
    master = getppid();
}

void lw_watchdog_construct(struct lw_watchdog *watchdog, lua_State *lua,
                           const struct lw_limits *limits, uint32_t *budget)
{
    struct sigaction action = {.sa_handler = on_stalled, .sa_flags = SA_RESTART};
    *watchdog = (struct lw_watchdog){.lua = lua,
                                     .budget = budget,
                                     .timeout_ms = limits->stall_timeout,
                                     .warning_ms = limits->stall_warning};
    lua_pushlightuserdata(lua, (void *)&teller_key);
    watchdog->teller = lua_newthread(lua);
    lua_rawset(lua, LUA_REGISTRYINDEX);
    sigaction(LW_SIGNAL_STALLED, &action, NULL);
    watchdog->is_wanted = watchdog->timeout_ms || watchdog->warning_ms;
    if (watchdog->is_wanted && lw_profiler_prepare(lua))
        lw_watchdog_serve(watchdog);
}

/* Warnings are for who writes the app: then time is that of the clock, as a call of a C
 * function that waits uses none of the CPU, and what runs behind it is looked at.  It
 * wakes a process that has nothing to do, too. */
void lw_watchdog_serve(struct lw_watchdog *watchdog)
{
    uint64_t quarter_ms = watchdog->warning_ms / 4;
    bool warns = watchdog->warning_ms > 0;
    if (!watchdog->is_wanted)
        return;
    lw_profiler_start(watchdog->lua, look, watchdog,
                      (struct lw_profiler_times){
                          .clock = warns ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID,
                          .interval_ms = warns && quarter_ms < LOOK_MS
                                             ? (quarter_ms < 10 ? 10 : quarter_ms)
                                             : LOOK_MS,
                      });
}

void lw_watchdog_take(struct lw_watchdog *watchdog)
{
    lua_State *lua = watchdog->lua;
    lua_pushlightuserdata(lua, (void *)&look_key);
    lua_insert(lua, -2);
    lua_rawset(lua, LUA_REGISTRYINDEX);
}

void lw_watchdog_destruct(struct lw_watchdog *watchdog)
{
    lw_profiler_stop(watchdog->lua);
}

void lw_watchdog_enter(struct lw_watchdog *watchdog)
{
    watchdog->entered = pulled();
    running = watchdog;
}

void lw_watchdog_leave(void)
{
    running = NULL;
}

void lw_watchdog_count(void)
{
    atomic_store_explicit(&lw_board_own()->pulled, pulled() + 1, memory_order_relaxed);
}
