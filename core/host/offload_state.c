/* SPDX-License-Identifier: MIT
 *
 * Opening such a state, its memory, and calls into it: all of them protected, since it
 * may run out of memory anywhere. */
#include "host/offload_state.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/cells.h"
#include "base/require.h"
#include "host/embedded.h"

#define KEPT_OCTETS (32 << 20) /* above which garbage is collected after a call */

struct lw_offload_state {
    lua_State *lua;
    struct lw_cells cells; /* its memory */
    uint64_t used;         /* octets */
    uint64_t limit;        /* 0: none */
    bool is_asked;         /* LuaJIT has called the allocator */
};

/* Where the function that answers calls lies in the registry. */
static const char serve_key = 0;

static void *resize(void *context, void *memory, size_t old_size, size_t new_size)
{
    struct lw_offload_state *state = context;
    state->is_asked = true;
    if (new_size > old_size && state->limit > 0
        && state->used + (new_size - old_size) > state->limit)
        return NULL;
    void *moved = lw_cells_resize(&state->cells, memory, old_size, new_size);
    if (moved || new_size == 0)
        state->used = state->used - old_size + new_size;
    return moved;
}

struct lw_offload_state *lw_offload_state_open(uint64_t limit)
{
    struct lw_offload_state *state = lw_alloc(sizeof *state);
    *state = (struct lw_offload_state){.limit = limit};
    state->lua = lua_newstate(resize, state);
    if (!state->lua && !state->is_asked) /* without GC64: its own, 2 GiB at most */
        state->lua = luaL_newstate();
    if (state->lua)
        return state;
    lw_cells_destruct(&state->cells);
    free(state);
    return NULL;
}

void lw_offload_state_close(struct lw_offload_state *state)
{
    lua_close(state->lua);
    lw_cells_destruct(&state->cells);
    free(state);
}

static void push_serve(lua_State *lua)
{
    lua_pushlightuserdata(lua, (void *)&serve_key);
    lua_rawget(lua, LUA_REGISTRYINDEX);
}

/* boot.lua without a host gives the function that answers calls. */
static void set_up(lua_State *lua)
{
    luaL_openlibs(lua);
    if (lw_embedded_load_boot(lua) != 0)
        lua_error(lua);
    lua_pushnil(lua);
    lua_pushcfunction(lua, lw_embedded_text);
    lua_call(lua, 2, 1);
    lua_pushlightuserdata(lua, (void *)&serve_key);
    lua_insert(lua, -2);
    lua_rawset(lua, LUA_REGISTRYINDEX);
}

/* A call under way, as it goes through Lua. */
struct call {
    struct luaweb_slice octets; /* of the call (borrowed), then of the answer */
    struct lw_offload_answer answer;
};

static void copy_answer(struct lw_offload_answer *answer, const char *data, size_t size)
{
    answer->data = lw_alloc(size + 1);
    answer->size = size;
    memcpy(answer->data, data, size);
}

/* Runs protected. */
static int serve(lua_State *lua)
{
    struct call *call = lua_touserdata(lua, 1);
    push_serve(lua);
    if (lua_isnil(lua, -1)) {
        set_up(lua);
        push_serve(lua);
    }
    lua_pushlightuserdata(lua, &call->octets);
    lua_call(lua, 1, 2);
    copy_answer(&call->answer, call->octets.data, call->octets.size);
    call->answer.is_last = lua_toboolean(lua, -1);
    lua_getfield(lua, -2, "free"); /* the buffer's memory, see plain.lua */
    lua_pushvalue(lua, -3);
    lua_call(lua, 1, 0);
    return 0;
}

/* Runs protected: finalizers may raise. */
static int collect(lua_State *lua)
{
    lua_gc(lua, LUA_GCCOLLECT, 0);
    return 0;
}

struct lw_offload_answer lw_offload_state_call(struct lw_offload_state *state,
                                               const char *data, size_t size)
{
    lua_State *lua = state->lua;
    struct call call = {
        .octets = {data, size}
    };
    if (lua_cpcall(lua, serve, &call) != 0) {
        const char *why = lua_tostring(lua, -1);
        why = why ? why : "an error without a message";
        copy_answer(&call.answer, why, strlen(why));
        call.answer.is_lost = call.answer.is_last = true;
    } else if (state->used > KEPT_OCTETS && !call.answer.is_last) {
        lua_cpcall(lua, collect, NULL);
    }
    lua_settop(lua, 0);
    return call.answer;
}
