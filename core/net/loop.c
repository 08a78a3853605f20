/* SPDX-License-Identifier: MIT
 *
 * A turn: the poll phase reads octets and queues requests, then (check) the host runs
 * what is ready, once, and every touched connection is settled: one send each.  Timers
 * fire before the poll, so the same is done in front of it (prepare). */
#include "net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/date.h"
#include "base/log.h"
#include "base/require.h"
#include "base/slice.h"
#include "net/access_log.h"
#include "net/conn.h"
#include "net/dev.h"
#include "net/handover.h"
#include "net/listen.h"
#include "net/request.h"
#include "net/socket.h"
#include "net/timer.h"
#include "net/tracer.h"
#include "share/board.h"

#define REQUESTS_AT_ONCE 16    /* read in a row before their handlers run */
#define SAID_AGAIN_MS    10000 /* the least time between two equal lines in the log */

static void on_again(uv_idle_t *again)
{
    (void)again;
}

static void set_longest(struct lw_loop *loop, uint64_t ms)
{
    loop->longest_turn_ms = ms;
    lw_metrics_set(loop->tally.slot, LW_METRIC_LONGEST_TURN, (double)ms / 1e3);
}

/* By the clock that libuv reads anyway: another look at it at both ends would cost a
 * hundredth of a short turn. */
static void note_turn(struct lw_loop *loop)
{
    uint64_t took_ms = uv_now(&loop->uv) - loop->turn_began_ms;
    if (took_ms > loop->longest_turn_ms)
        set_longest(loop, took_ms);
}

void lw_loop_forget_turns(struct lw_loop *loop)
{
    uv_update_time(&loop->uv);
    loop->turn_began_ms = uv_now(&loop->uv);
    set_longest(loop, 0);
}

/* What others know the worker to be alive by; 0: no turn runs. */
static void beat(uint64_t began_ms)
{
    atomic_store_explicit(&lw_board_own()->turn_began_ms, began_ms,
                          memory_order_relaxed);
}

static void run_turn(struct lw_loop *loop)
{
    loop->has_work = false;
    loop->queued = 0;
    loop->turn_began_ms = uv_now(&loop->uv);
    beat(loop->turn_began_ms);
    lw_tally_show(&loop->tally);
    bool more = loop->calls.turn(loop->calls.context);
    uv_update_time(&loop->uv); /* deadlines start from now, however long that took */
    note_turn(loop);
    lw_conn_settle_all(loop);
    lw_tally_settle(&loop->tally);
    beat(0);
    if (more || loop->has_work)
        uv_idle_start(&loop->again, on_again);
    else
        uv_idle_stop(&loop->again);
}

void lw_loop_relieve(struct lw_loop *loop)
{
    if (loop->queued >= REQUESTS_AT_ONCE)
        run_turn(loop);
}

static void on_prepare(uv_prepare_t *prepare)
{
    run_turn(prepare->data);
}

static void on_check(uv_check_t *check)
{
    run_turn(check->data);
}

static void set_up_deadlines(struct lw_loop *loop)
{
    const struct lw_limits *limits = &loop->limits;
    const uint64_t durations[LW_DEADLINE_KINDS] = {
        [LW_DEADLINE_IDLE] = limits->idle_timeout,
        [LW_DEADLINE_HEADER] = limits->header_timeout,
        [LW_DEADLINE_BODY] = limits->body_timeout,
        [LW_DEADLINE_WRITE] = limits->write_timeout,
        [LW_DEADLINE_REQUEST] = limits->request_timeout,
        [LW_DEADLINE_LINGER] = LW_LINGER_MS,
    };
    lw_deadlines_construct(&loop->deadlines, &loop->uv, durations, lw_conn_late);
}

static void make_id_prefix(struct lw_loop *loop)
{
    uint32_t random = 0;
    if (uv_random(NULL, NULL, &random, sizeof random, 0, NULL) != 0)
        random = (uint32_t)uv_hrtime();
    snprintf(loop->id_prefix, sizeof loop->id_prefix, "%06x", random & 0xffffff);
}

int lw_loop_construct(struct lw_loop *loop, const struct lw_limits *limits,
                      const struct lw_loop_calls *calls)
{
    memset(loop, 0, sizeof *loop);
    int error = uv_loop_init(&loop->uv);
    if (error)
        return error;
    loop->limits = *limits;
    loop->calls = *calls;
    make_id_prefix(loop);
    for (int kind = 0; kind < LW_ID_KINDS; kind++)
        loop->free_ids[kind] = LW_NO_ID;
    loop->date_second = -1;
    lw_blocks_construct(&loop->blocks, 1024);
    set_up_deadlines(loop);
    lw_works_construct(&loop->works);
    lw_tally_construct(&loop->tally);
    uv_prepare_init(&loop->uv, &loop->prepare);
    uv_check_init(&loop->uv, &loop->check);
    uv_idle_init(&loop->uv, &loop->again);
    uv_timer_init(&loop->uv, &loop->grace);
    uv_timer_init(&loop->uv, &loop->accept_again);
    loop->grace.data = loop->accept_again.data = loop;
    loop->prepare.data = loop->check.data = loop->again.data = loop;
    uv_prepare_start(&loop->prepare, on_prepare);
    uv_check_start(&loop->check, on_check);
    return 0;
}

void lw_loop_show_health(struct lw_loop *loop, const char *path)
{
    loop->health = lw_slice(path, strlen(path));
    loop->health_key =
        lw_metrics_key(LW_METRIC_REQUEST, lw_metrics_label(loop->health), 0, 0);
}

int lw_loop_run(struct lw_loop *loop)
{
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    return loop->exit_code;
}

void lw_loop_exit(struct lw_loop *loop, int code)
{
    loop->exit_code = code;
    uv_stop(&loop->uv);
}

void lw_loop_check_drained(struct lw_loop *loop)
{
    if (!loop->is_draining || loop->is_drained || loop->conn_count > 0)
        return;
    loop->is_drained = true;
    loop->has_work = true;
    loop->calls.drained(loop->calls.context);
}

static void on_grace_over(uv_timer_t *timer)
{
    struct lw_loop *loop = timer->data;
    loop->closes_idle = true;
    lw_conn_touch_all(loop);
}

void lw_loop_drain(struct lw_loop *loop, uint64_t grace_ms)
{
    if (loop->is_draining)
        return;
    loop->is_draining = true;
    loop->has_work = true;
    lw_listen_stop_all(loop);
    uv_timer_start(&loop->grace, on_grace_over, grace_ms, 0);
    lw_loop_check_drained(loop);
}

static void close_handle(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void on_last(uv_timer_t *last)
{
    (void)last;
}

/* Lets handles close, and what runs on the thread pool end, within a time. */
static bool run_out(struct lw_loop *loop)
{
    uv_timer_init(&loop->uv, &loop->last);
    uv_update_time(&loop->uv);
    uv_timer_start(&loop->last, on_last, LW_LAST_WORK_MS, 0);
    uv_unref((uv_handle_t *)&loop->last);
    while (uv_loop_alive(&loop->uv) && uv_is_active((uv_handle_t *)&loop->last))
        uv_run(&loop->uv, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&loop->last, NULL);
    uv_run(&loop->uv, UV_RUN_NOWAIT);
    return uv_loop_close(&loop->uv) == 0;
}

void lw_loop_close_owner(struct lw_loop *loop, struct lw_owner *owner)
{
    lw_socket_close_all(loop, owner);
    lw_timer_stop_all(loop, owner);
    lw_conn_close_owner(loop, owner);
    lw_request_end_owner(loop, owner);
}

bool lw_loop_close(struct lw_loop *loop)
{
    uv_close((uv_handle_t *)&loop->prepare, NULL); /* no turn any more */
    uv_close((uv_handle_t *)&loop->check, NULL);
    lw_works_close(&loop->works);
    lw_listen_stop_all(loop);
    lw_conn_close_all(loop);
    lw_timer_close_all(loop);
    if (loop->access_log)
        lw_access_log_close(loop->access_log);
    lw_dev_close(loop);
    uv_walk(&loop->uv, close_handle, NULL);
    return run_out(loop);
}

void lw_loop_destruct(struct lw_loop *loop)
{
    lw_handover_destruct(loop);
    lw_request_free_all(loop);
    lw_tracer_free(loop);
    lw_conn_free_all(loop);
    lw_blocks_destruct(&loop->blocks);
    lw_deadlines_destruct(&loop->deadlines);
    free(loop->ids);
    loop->ids = NULL;
}

static uint32_t new_id(struct lw_loop *loop)
{
    if (loop->id_count == loop->id_capacity) {
        loop->id_capacity = loop->id_capacity ? loop->id_capacity * 2 : 64;
        loop->ids = lw_realloc(loop->ids, loop->id_capacity * sizeof *loop->ids);
    }
    return loop->id_count++;
}

uint32_t lw_loop_add_id(struct lw_loop *loop, struct lw_owner *owner,
                        enum lw_id_kind kind, void *object)
{
    uint32_t id = loop->free_ids[kind];
    if (id == LW_NO_ID)
        id = new_id(loop);
    else
        loop->free_ids[kind] = loop->ids[id].next_free;
    loop->ids[id] = (struct lw_id){.kind = kind, .object = object, .owner = owner};
    return id;
}

void lw_loop_drop_id(struct lw_loop *loop, uint32_t id)
{
    lw_require(id < loop->id_count && loop->ids[id].object);
    struct lw_id *dropped = &loop->ids[id];
    dropped->object = NULL;
    dropped->next_free = loop->free_ids[dropped->kind];
    loop->free_ids[dropped->kind] = id;
}

void *lw_loop_find_id(const struct lw_loop *loop, enum lw_id_kind kind, uint32_t id)
{
    if (id >= loop->id_count || loop->ids[id].kind != kind)
        return NULL;
    return loop->ids[id].object;
}

void *lw_loop_find_own(const struct lw_loop *loop, const struct lw_owner *owner,
                       enum lw_id_kind kind, uint32_t id)
{
    void *object = lw_loop_find_id(loop, kind, id);
    return object && loop->ids[id].owner == owner ? object : NULL;
}

static struct lw_owner *owner_of(const struct lw_loop *loop,
                                 const struct lw_request *request)
{
    return loop->ids[request->facts.slot].owner;
}

void lw_loop_request(struct lw_loop *loop, struct lw_request *request,
                     uint32_t function)
{
    loop->has_work = true;
    loop->queued++;
    const struct lw_owner *owner = owner_of(loop, request);
    owner->request(owner->context, request, function);
}

void lw_loop_wake(struct lw_loop *loop, uint32_t id)
{
    loop->has_work = true;
    const struct lw_owner *owner = loop->ids[id].owner;
    owner->wake(owner->context, id);
}

void lw_loop_gone(struct lw_loop *loop, struct lw_request *request, uint32_t how)
{
    loop->has_work = true;
    const struct lw_owner *owner = owner_of(loop, request);
    owner->gone(owner->context, request, how);
}

void lw_loop_count_conn(struct lw_loop *loop, int change)
{
    loop->conn_count += (uint32_t)change;
    atomic_store_explicit(&lw_board_own()->conn_count, loop->conn_count,
                          memory_order_relaxed);
    lw_metrics_set(loop->tally.slot, LW_METRIC_CONNECTIONS, loop->conn_count);
}

void lw_loop_count_orphan(struct lw_loop *loop, int change)
{
    loop->orphan_count += (uint32_t)change;
    lw_metrics_set(loop->tally.slot, LW_METRIC_ORPHANS, loop->orphan_count);
}

bool lw_loop_may_say(const struct lw_loop *loop, uint64_t *said_ms)
{
    uint64_t now_ms = uv_now(&loop->uv);
    if (*said_ms > 0 && now_ms - *said_ms < SAID_AGAIN_MS)
        return false;
    *said_ms = now_ms;
    return true;
}

int64_t lw_loop_time_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

const char *lw_loop_date(struct lw_loop *loop)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec != loop->date_second) {
        loop->date_second = now.tv_sec;
        lw_date_format(now.tv_sec, loop->date);
    }
    return loop->date;
}
