/* SPDX-License-Identifier: MIT
 *
 * Opening the Lua state, the event ring, the one entry per turn, and signals. */
#include "host/vm.h"

#include <lauxlib.h>
#include <lualib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/require.h"
#include "host/embedded.h"
#include "machine/app.h"
#include "net/access_log.h"
#include "net/conn.h"

#define EVENTS_PER_TURN  1000
#define COLLECT_AGAIN_MS 5000

/* Where the function that runs a turn lies in the registry. */
static const char turn_key = 0;

static void push_event(struct luaweb_host *host, struct luaweb_event event)
{
    if (host->event_count == host->event_capacity) {
        uint32_t capacity = host->event_capacity ? host->event_capacity * 2 : 256;
        struct luaweb_event *events = lw_alloc(capacity * sizeof *events);
        for (uint32_t i = 0; i < host->event_count; i++)
            events[i] =
                host->events[(host->event_first + i) & (host->event_capacity - 1)];
        free(host->events);
        host->events = events;
        host->event_capacity = capacity;
        host->event_first = 0;
    }
    uint32_t at = (host->event_first + host->event_count) & (host->event_capacity - 1);
    host->events[at] = event;
    host->event_count++;
}

static void on_request(void *context, struct lw_request *request, uint32_t function)
{
    struct luaweb_request *facts = (struct luaweb_request *)request;
    push_event(context, (struct luaweb_event){
                            .kind = LUAWEB_EVENT_REQUEST,
                            .request = facts,
                            .generation = facts->generation,
                            .function = function,
                        });
}

static void on_wake(void *context, uint32_t id)
{
    push_event(context, (struct luaweb_event){.kind = LUAWEB_EVENT_WAKE, .id = id});
}

static void on_gone(void *context, struct lw_request *request, uint32_t how)
{
    struct luaweb_request *facts = (struct luaweb_request *)request;
    push_event(context, (struct luaweb_event){
                            .kind = LUAWEB_EVENT_GONE,
                            .request = facts,
                            .generation = facts->generation,
                            .id = how,
                        });
}

static void on_stopping(void *context)
{
    push_event(context, (struct luaweb_event){.kind = LUAWEB_EVENT_STOPPING});
}

static void on_drained(void *context)
{
    push_event(context, (struct luaweb_event){.kind = LUAWEB_EVENT_STOP});
}

/* Above --lua-memory, new requests are refused until a collection, tried every few
 * seconds, has brought it down. */
static void watch_memory(struct luaweb_host *host)
{
    uint64_t limit = host->loop.limits.lua_memory;
    if (limit == 0 || (uint64_t)lua_gc(host->lua, LUA_GCCOUNT, 0) * 1024 <= limit) {
        host->loop.is_full = false;
        return;
    }
    uint64_t now = uv_now(&host->loop.uv);
    if (host->loop.is_full && now < host->collect_again_ms)
        return;
    lw_collector_run(&host->collector);
    host->collect_again_ms = now + COLLECT_AGAIN_MS;
    uint64_t used = (uint64_t)lua_gc(host->lua, LUA_GCCOUNT, 0) * 1024;
    if (used > limit && !host->loop.is_full)
        lw_log(LW_LOG_ERROR,
               "Lua holds %llu MiB, more than --lua-memory: requests are "
               "refused until it is less",
               (unsigned long long)(used >> 20));
    host->loop.is_full = used > limit;
}

/* The error message on the stack's top, which may be no text. */
static const char *message_of(lua_State *lua)
{
    const char *text = lua_tostring(lua, -1);
    return text ? text : "an error without a message";
}

static bool on_turn(void *context)
{
    struct luaweb_host *host = context;
    if (host->event_count > 0 || host->loop.is_full)
        watch_memory(host);
    if (host->event_count == 0 && !host->has_more)
        return false;
    lua_State *lua = host->lua;
    host->budget = EVENTS_PER_TURN;
    lua_pushlightuserdata(lua, (void *)&turn_key);
    lua_rawget(lua, LUA_REGISTRYINDEX);
    lw_watchdog_enter(&host->watchdog);
    int status = lua_pcall(lua, 0, 1, 0);
    lw_watchdog_leave();
    if (status != 0) {
        lw_log(LW_LOG_ERROR, "the scheduler failed: %s", message_of(lua));
        lua_pop(lua, 1);
        lw_loop_exit(&host->loop, 1);
        return false;
    }
    host->has_more = lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    lw_collector_count_turn(&host->collector);
    return host->has_more || host->event_count > 0;
}

static void on_stop_late(uv_timer_t *timer)
{
    struct luaweb_host *host = timer->data;
    lw_log(LW_LOG_WARN, "stopping: on_stop was cut short after the drain timeout");
    lw_loop_exit(&host->loop, 0);
}

static void on_drain_late(uv_timer_t *timer)
{
    struct luaweb_host *host = timer->data;
    uint32_t count = host->loop.conn_count;
    uint64_t left_ms = host->loop.limits.drain_timeout;
    uv_timer_start(timer, on_stop_late, left_ms, 0);
    left_ms = left_ms < UINT32_MAX ? left_ms : UINT32_MAX;
    push_event(host, (struct luaweb_event){.kind = LUAWEB_EVENT_STOP,
                                           .id = (uint32_t)left_ms});
    host->loop.has_work = true;
    if (host->loop.is_drained)
        return;
    lw_log(LW_LOG_WARN, "stopping: %u connection%s cut after the drain timeout", count,
           count == 1 ? " was" : "s were");
    lw_conn_close_all(&host->loop);
}

/* What a signal handler may touch. */
static struct {
    uv_async_t async;
    volatile sig_atomic_t number; /* of the last signal */
    volatile sig_atomic_t count;
    volatile sig_atomic_t is_seen; /* the loop has acted on the first one */
} stop_signal;

#define ALARM_SECONDS 1 /* which the loop has to act on the second one */

static int exit_code_of(int number)
{
    return number == SIGINT ? 130 : 0;
}

/* A loop that Lua holds up would never see a second signal: then there is nothing to
 * wait for.  Where the first one was seen, that is known only after a while. */
static void on_stop_signal(int number)
{
    stop_signal.number = number;
    if (++stop_signal.count > 1 && !stop_signal.is_seen)
        _exit(exit_code_of(number));
    if (stop_signal.count == 2)
        alarm(ALARM_SECONDS);
    uv_async_send(&stop_signal.async);
}

static void on_alarm(int number)
{
    (void)number;
    _exit(exit_code_of(stop_signal.number));
}

static void on_stop(uv_async_t *async)
{
    struct luaweb_host *host = async->data;
    if (stop_signal.count == 0)
        return;
    stop_signal.is_seen = 1;
    if (host->signal_exit_code || host->loop.is_draining) {
        int code = host->signal_exit_code;
        lw_loop_exit(&host->loop, code ? code : exit_code_of(stop_signal.number));
        return;
    }
    uint64_t timeout_ms = host->loop.limits.drain_timeout;
    if (timeout_ms > 0)
        uv_timer_start(&host->drain_timer, on_drain_late, timeout_ms, 0);
    lw_loop_drain(&host->loop);
}

static void on_reopen(uv_signal_t *handle, int number)
{
    struct luaweb_host *host = handle->data;
    (void)number;
    if (host->loop.access_log)
        lw_access_log_reopen(host->loop.access_log);
}

static void watch_signals(struct luaweb_host *host)
{
    struct sigaction action = {.sa_handler = on_stop_signal, .sa_flags = SA_RESTART};
    uv_async_init(&host->loop.uv, &stop_signal.async, on_stop);
    stop_signal.async.data = host;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGALRM, on_alarm);
    uv_signal_init(&host->loop.uv, &host->reopen);
    host->reopen.data = host;
    uv_signal_start(&host->reopen, on_reopen, SIGUSR1);
    uv_timer_init(&host->loop.uv, &host->drain_timer);
    host->drain_timer.data = host;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a full log is an error, not the end */
}

/* What luaL_newstate would set. */
static int on_panic(lua_State *lua)
{
    fprintf(stderr, "luaweb: an error that nothing catches: %s\n", message_of(lua));
    return 0;
}

static void *resize(void *cells, void *memory, size_t old_size, size_t new_size)
{
    return lw_cells_resize(cells, memory, old_size, new_size);
}

bool lw_host_construct(struct luaweb_host *host, const struct lw_limits *limits)
{
    memset(host, 0, sizeof *host);
    host->upcalls = (struct lw_upcalls){
        .context = host,
        .request = on_request,
        .wake = on_wake,
        .turn = on_turn,
        .gone = on_gone,
        .stopping = on_stopping,
        .stop = on_drained,
    };
    int error = lw_loop_construct(&host->loop, limits, &host->upcalls);
    if (error) {
        fprintf(stderr, "luaweb: can't make an event loop: %s\n", uv_strerror(error));
        return false;
    }
    host->lua = lua_newstate(resize, &host->cells);
    if (!host->lua) /* a LuaJIT without GC64 takes its own allocator only */
        host->lua = luaL_newstate();
    if (!host->lua) {
        fputs("luaweb: no memory for a Lua state\n", stderr);
        return false;
    }
    lua_atpanic(host->lua, on_panic);
    luaL_openlibs(host->lua);
    lw_offloads_construct(&host->offloads, &host->loop, &host->upcalls);
    lw_collector_construct(&host->collector, &host->loop.uv, host->lua,
                           &host->has_more);
    lw_watchdog_construct(&host->watchdog, host->lua, &host->loop.limits);
    watch_signals(host);
    return true;
}

bool lw_host_log_access(struct luaweb_host *host, const char *where)
{
    const char *why;
    host->loop.access_log = lw_access_log_open(&host->loop, where, &why);
    if (!host->loop.access_log)
        fprintf(stderr, "luaweb: --access-log %s: %s\n", where, why);
    return host->loop.access_log != NULL;
}

bool lw_host_start(struct luaweb_host *host, int argc, char **argv)
{
    lua_State *lua = host->lua;
    int status = lw_embedded_load_boot(lua);
    if (status == 0) {
        lua_pushlightuserdata(lua, host);
        lua_pushcfunction(lua, lw_embedded_text);
        for (int i = 0; i < argc; i++)
            lua_pushstring(lua, argv[i]);
        status = lua_pcall(lua, argc + 2, 2, 0);
    }
    if (status != 0) {
        fprintf(stderr, "luaweb: %s\n", message_of(lua));
        return false;
    }
    lw_watchdog_take(&host->watchdog);
    lua_pushlightuserdata(lua, (void *)&turn_key);
    lua_insert(lua, -2);
    lua_rawset(lua, LUA_REGISTRYINDEX);
    on_wake(host, LW_NO_ID); /* the first turn */
    return true;
}

int lw_host_run(struct luaweb_host *host)
{
    return lw_loop_run(&host->loop);
}

bool lw_host_destruct(struct luaweb_host *host)
{
    alarm(0);
    signal(SIGTERM, SIG_DFL); /* the loop can't be told any more */
    signal(SIGINT, SIG_DFL);
    uv_timer_stop(&host->drain_timer);
    lw_loop_close_owner(&host->loop, &host->upcalls);
    bool is_quiet = lw_loop_close(&host->loop);
    lw_watchdog_destruct(&host->watchdog);
    lua_close(host->lua); /* finalizers may look at requests */
    if (!is_quiet)
        return false;
    lw_offloads_destruct(&host->offloads);
    lw_loop_destruct(&host->loop);
    for (uint32_t i = 0; i < host->app_count; i++) {
        lw_app_destruct(host->apps[i]);
        free(host->apps[i]);
    }
    lw_cells_destruct(&host->cells);
    free(host->apps);
    free(host->events);
    free(host->scratch);
    return true;
}

char *lw_host_scratch(struct luaweb_host *host, size_t size)
{
    if (size > host->scratch_size) {
        free(host->scratch);
        host->scratch = lw_alloc(size);
        host->scratch_size = size;
    }
    return host->scratch;
}
