/* SPDX-License-Identifier: MIT
 *
 * Work of the kind LW_WORK_OFFLOAD.  A thread that begins takes an idle state, or opens
 * one: so there are never more than threads that may run at once. */
#include "host/offload.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/require.h"
#include "host/offload_state.h"
#include "net/loop.h"
#include "net/work.h"

struct luaweb_offload {
    struct lw_work work;          /* first: it is the offload */
    struct lw_offloads *offloads; /* outlives it */
    uint32_t id;
    bool is_freed; /* while it ran */
    struct lw_offload_answer answer;
    size_t size;
    char call[]; /* `size` octets */
};

void lw_offloads_construct(struct lw_offloads *offloads, struct lw_loop *loop,
                           struct lw_owner *owner)
{
    *offloads = (struct lw_offloads){.loop = loop, .owner = owner};
    lw_require(uv_mutex_init(&offloads->mutex) == 0);
    lw_require(loop->works.lines[LW_WORK_OFFLOAD].at_once
               <= sizeof offloads->idle / sizeof *offloads->idle);
}

void lw_offloads_destruct(struct lw_offloads *offloads)
{
    for (uint32_t i = 0; i < offloads->idle_count; i++)
        lw_offload_state_close(offloads->idle[i]);
    uv_mutex_destroy(&offloads->mutex);
}

static struct lw_offload_state *take_state(struct lw_offloads *offloads)
{
    struct lw_offload_state *state = NULL;
    uv_mutex_lock(&offloads->mutex);
    if (offloads->idle_count > 0)
        state = offloads->idle[--offloads->idle_count];
    uv_mutex_unlock(&offloads->mutex);
    return state ? state : lw_offload_state_open(offloads->loop->limits.lua_memory);
}

static void give_back(struct lw_offloads *offloads, struct lw_offload_state *state)
{
    uv_mutex_lock(&offloads->mutex);
    offloads->idle[offloads->idle_count++] = state;
    uv_mutex_unlock(&offloads->mutex);
}

static struct lw_offload_answer no_state(void)
{
    static const char text[] = "no memory for a Lua state (see --lua-memory)";
    struct lw_offload_answer answer = {.size = sizeof text - 1, .is_lost = true};
    answer.data = lw_alloc(sizeof text);
    memcpy(answer.data, text, sizeof text);
    return answer;
}

static void call(void *context)
{
    struct luaweb_offload *offload = context;
    struct lw_offload_state *state = take_state(offload->offloads);
    if (!state) {
        offload->answer = no_state();
        return;
    }
    offload->answer = lw_offload_state_call(state, offload->call, offload->size);
    if (offload->answer.is_last)
        lw_offload_state_close(state);
    else
        give_back(offload->offloads, state);
}

/* Whether Lua's own limit on recursion is met before the end of this thread's stack. */
static bool is_stack_wide(void)
{
    pthread_attr_t attributes;
    void *at;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return false;
    pthread_attr_getstack(&attributes, &at, &size);
    pthread_attr_destroy(&attributes);
    return size >= LW_LUA_STACK;
}

/* The threads of the pool have main's stack, but from libuv 1.45 on 8 MiB: then a
 * thread of its own does it. */
static void run(struct lw_work *work)
{
    const uv_thread_options_t wide = {.flags = UV_THREAD_HAS_STACK_SIZE,
                                      .stack_size = LW_LUA_STACK};
    uv_thread_t thread;
    if (is_stack_wide() || uv_thread_create_ex(&thread, &wide, call, work) != 0)
        call(work);
    else
        uv_thread_join(&thread);
}

static void destroy(struct luaweb_offload *offload)
{
    lw_loop_drop_id(offload->offloads->loop, offload->id);
    offload->offloads->count--;
    free(offload->answer.data);
    free(offload);
}

static void on_done(struct lw_work *work)
{
    struct luaweb_offload *offload = (struct luaweb_offload *)work;
    if (offload->is_freed)
        destroy(offload);
    else
        lw_loop_wake(offload->offloads->loop, offload->id);
}

struct luaweb_offload *lw_offload_begin(struct lw_offloads *offloads,
                                        const char *octets, size_t size)
{
    struct luaweb_offload *offload = lw_alloc(sizeof *offload + size);
    memset(offload, 0, sizeof *offload);
    offload->work.run = run;
    offload->work.done = on_done;
    offload->offloads = offloads;
    offloads->count++;
    offload->id =
        lw_loop_add_id(offloads->loop, offloads->owner, LW_ID_OFFLOAD, offload);
    offload->size = size;
    memcpy(offload->call, octets, size);
    if (lw_work_start(offloads->loop, &offload->work, LW_WORK_OFFLOAD))
        return offload;
    destroy(offload);
    return NULL;
}

uint32_t lw_offload_id(const struct luaweb_offload *offload)
{
    return offload->id;
}

int lw_offload_result(const struct luaweb_offload *offload, struct luaweb_slice *answer)
{
    if (offload->work.state != LW_WORK_IDLE)
        return LUAWEB_OFFLOAD_WAIT;
    *answer = (struct luaweb_slice){offload->answer.data, offload->answer.size};
    return offload->answer.is_lost ? LUAWEB_OFFLOAD_LOST : LUAWEB_OFFLOAD_DONE;
}

void lw_offload_free(struct luaweb_offload *offload)
{
    if (offload->work.state == LW_WORK_RUNNING) {
        offload->is_freed = true;
        return;
    }
    lw_work_cancel(&offload->work);
    destroy(offload);
}
