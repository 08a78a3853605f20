/* SPDX-License-Identifier: MIT
 *
 * Opening the Lua state, the event ring, and the one entry per turn. */
#include "host/vm.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi_trace.h"
#include "base/log.h"
#include "base/require.h"
#include "host/embedded.h"
#include "host/look.h"
#include "machine/app.h"

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

void lw_host_stopping(struct luaweb_host *host)
{
    host->is_stopping = true;
    push_event(host, (struct luaweb_event){.kind = LUAWEB_EVENT_STOPPING});
    host->loop->has_work = true;
}

void lw_host_stop(struct luaweb_host *host, uint64_t left_ms)
{
    uint32_t id = left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX;
    push_event(host, (struct luaweb_event){.kind = LUAWEB_EVENT_STOP, .id = id});
    host->loop->has_work = true;
}

/* Above --lua-memory, new requests are refused until a collection, tried every few
 * seconds, has brought it down. */
static void watch_memory(struct luaweb_host *host)
{
    uint64_t limit = host->loop->limits.lua_memory;
    if (limit == 0 || (uint64_t)lua_gc(host->lua, LUA_GCCOUNT, 0) * 1024 <= limit) {
        host->owner.is_full = false;
        return;
    }
    uint64_t now = uv_now(&host->loop->uv);
    if (host->owner.is_full && now < host->collect_again_ms)
        return;
    lw_collector_run(&host->collector);
    host->collect_again_ms = now + COLLECT_AGAIN_MS;
    uint64_t used = (uint64_t)lua_gc(host->lua, LUA_GCCOUNT, 0) * 1024;
    if (used > limit && !host->owner.is_full)
        lw_log(LW_LOG_ERROR,
               "Lua holds %llu MiB, more than --lua-memory: requests are "
               "refused until it is less",
               (unsigned long long)(used >> 20));
    host->owner.is_full = used > limit;
    if (host->owner.is_full)
        host->calls->is_full(host->calls->context, host);
}

/* The error message on the stack's top, which may be no text. */
static const char *message_of(lua_State *lua)
{
    const char *text = lua_tostring(lua, -1);
    return text ? text : "an error without a message";
}

bool lw_host_turn(struct luaweb_host *host)
{
    if (host->event_count > 0 || host->owner.is_full)
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
        host->calls->ended(host->calls->context, host, 1, "", 0);
        return false;
    }
    host->has_more = lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    lw_collector_count_turn(&host->collector);
    lw_host_counts_tell(&host->counts);
    return host->has_more || host->event_count > 0;
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

bool lw_host_construct(struct luaweb_host *host, struct lw_loop *loop,
                       const struct lw_host_calls *calls)
{
    memset(host, 0, sizeof *host);
    host->loop = loop;
    host->calls = calls;
    host->owner = (struct lw_owner){
        .context = host,
        .request = on_request,
        .wake = on_wake,
        .gone = on_gone,
    };
    host->lua = lua_newstate(resize, &host->cells);
    if (!host->lua) /* a LuaJIT without GC64 takes its own allocator only */
        host->lua = luaL_newstate();
    if (!host->lua) {
        fputs("luaweb: no memory for a Lua state\n", stderr);
        return false;
    }
    lua_atpanic(host->lua, on_panic);
    luaL_openlibs(host->lua);
    lw_offloads_construct(&host->offloads, loop, &host->owner);
    lw_together_construct(&host->together);
    lw_collector_construct(&host->collector, &loop->uv, host->lua, &host->has_more);
    lw_watchdog_construct(&host->watchdog, host->lua, &loop->limits, &host->budget);
    return true;
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
    host->loop->has_work = true;
    return true;
}

void lw_host_woken(struct luaweb_host *host)
{
    if (host->together.id == LW_NO_ID)
        return;
    on_wake(host, host->together.id);
    host->loop->has_work = true;
}

void lw_host_close(struct luaweb_host *host)
{
    lw_loop_close_owner(host->loop, &host->owner);
    luaweb_spans_stop(host);
    if (host->loop->trace == &host->trace)
        host->loop->trace = NULL;
    lw_collector_close(&host->collector);
    lw_watchdog_destruct(&host->watchdog);
    lua_close(host->lua); /* finalizers may look at requests */
    host->lua = NULL;
    lw_host_counts_close(&host->counts);
    lw_together_destruct(&host->together, host->loop);
}

bool lw_host_is_quiet(const struct luaweb_host *host)
{
    return host->offloads.count == 0 && host->collector.is_closed;
}

void lw_host_destruct(struct luaweb_host *host)
{
    lw_offloads_destruct(&host->offloads);
    lw_look_forget(host);
    for (uint32_t i = 0; i < host->app_count; i++) {
        lw_app_destruct(&host->apps[i]->app);
        free(host->apps[i]);
    }
    lw_cells_destruct(&host->cells);
    free(host->apps);
    free(host->events);
    free(host->scratch);
}

struct luaweb_app *lw_host_add_app(struct luaweb_host *host)
{
    struct lw_hosted_app *hosted = lw_alloc(sizeof *hosted);
    lw_app_construct(&hosted->app);
    hosted->site = (struct lw_site){&hosted->app, &host->owner};
    host->apps = lw_realloc(host->apps, (host->app_count + 1) * sizeof *host->apps);
    host->apps[host->app_count++] = hosted;
    return &hosted->app;
}

const struct lw_site *lw_host_site(const struct luaweb_app *app)
{
    return &((const struct lw_hosted_app *)app)->site;
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
