/* SPDX-License-Identifier: MIT
 *
 * The turns of all generations, from the first load to the end of the process. */
#include "process/worker.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "net/access_log.h"
#include "net/conn.h"
#include "net/dev.h"
#include "net/listen.h"
#include "process/develop.h"
#include "process/orders.h"
#include "process/signals.h"
#include "share/board.h"
#include "share/table.h"

#define MOST_RETIRING 8     /* generations that wait for their last requests */
#define REAP_MS       50    /* between two looks at what closes */
#define RELIEVE_MS    10000 /* between two reloads for want of memory */

static void on_reap(uv_timer_t *timer)
{
    struct lw_worker *worker = timer->data; /* the turn that follows looks */
    worker->loop.has_work = true;
}

static bool are_all_ended(const struct lw_worker *worker)
{
    for (const struct lw_generation *g = worker->generations; g; g = g->next)
        if (g->state < LW_GENERATION_ENDED)
            return false;
    return true;
}

/* Frees what is over, and looks again soon where something closes. */
static void settle(struct lw_worker *worker)
{
    struct lw_generation **at = &worker->generations;
    bool closes = false;
    while (*at) {
        struct lw_generation *generation = *at;
        if (lw_generation_settle(generation)) {
            *at = generation->next;
            lw_orders_tell(worker, LW_MESSAGE_RETIRED, generation->number);
            lw_generation_free(generation);
            continue;
        }
        closes |= generation->state == LW_GENERATION_CLOSED;
        at = &generation->next;
    }
    if (!closes)
        uv_timer_stop(&worker->reaper);
    else if (!uv_is_active((uv_handle_t *)&worker->reaper))
        uv_timer_start(&worker->reaper, on_reap, REAP_MS, REAP_MS);
}

static bool on_turn(void *context)
{
    struct lw_worker *worker = context;
    bool more = false;
    for (struct lw_generation *g = worker->generations; g; g = g->next)
        if (g->state < LW_GENERATION_ENDED && lw_host_turn(&g->host))
            more = true;
    const struct lw_generation *first = worker->generations;
    if (first && (first->next || first->state != LW_GENERATION_SERVING))
        settle(worker);
    if (worker->loop.is_draining && are_all_ended(worker))
        lw_loop_exit(&worker->loop, worker->end_code);
    return more;
}

static void on_drained(void *context)
{
    struct lw_worker *worker = context;
    for (struct lw_generation *g = worker->generations; g; g = g->next) {
        if (g->state >= LW_GENERATION_ENDED || g->is_told)
            continue;
        g->is_told = true;
        lw_host_stop(&g->host, 0);
    }
}

/* A command has ended, or an app can't be loaded, or ends after it was told to. */
static void on_ended(void *context, struct luaweb_host *host, int code,
                     const char *text, size_t size)
{
    struct lw_worker *worker = context;
    struct lw_generation *generation = (struct lw_generation *)host;
    bool was_loading = generation->state == LW_GENERATION_LOADING;
    bool is_only = !worker->serving || worker->serving == generation;
    generation->state = LW_GENERATION_ENDED;
    worker->loop.has_work = true;
    if (was_loading && size > 0)
        lw_orders_tell_failure(worker, generation->number, code, text, size);
    if (was_loading && worker->loop.dev)
        lw_dev_failed(worker->loop.dev, text, size);
    if (is_only && size > 0 && worker->is_first)
        fprintf(stderr, "luaweb: %.*s\n", (int)size, text);
    if (is_only && !worker->loop.is_draining)
        lw_loop_exit(&worker->loop, code);
    if (is_only)
        worker->end_code = code;
}

/* A new generation begins with less, as a rule.  Where it does not, it must not be
 * followed by the next one at once, and so on. */
static void on_full(void *context, struct luaweb_host *host)
{
    static const char why[] = "Lua held more than --lua-memory";
    struct lw_worker *worker = context;
    uint64_t now = uv_now(&worker->loop.uv);
    if (worker->serving != (struct lw_generation *)host || now < worker->relieve_ms)
        return;
    worker->relieve_ms = now + RELIEVE_MS;
    lw_orders_wish_reload(worker, why, sizeof why - 1);
}

static void on_exit_on_signal(void *context, int code)
{
    struct lw_worker *worker = context;
    worker->signal_exit_code = code;
    lw_signals_end_at_once(code);
}

static void on_loaded(void *context, struct luaweb_host *host, struct luaweb_app *app,
                      uint32_t workers, const char *text, size_t size)
{
    struct lw_worker *worker = context;
    struct lw_generation *generation = (struct lw_generation *)host;
    if (generation->state != LW_GENERATION_LOADING)
        return;
    generation->state = LW_GENERATION_LOADED;
    generation->app = app;
    lw_loop_forget_turns(&worker->loop);
    if (!worker->serving)
        lw_worker_switch(worker, generation->number);
    lw_orders_tell_loaded(worker, generation->number, workers, text, size);
}

bool lw_worker_has_master(const struct lw_worker *worker)
{
    return worker->channel >= 0;
}

static bool open_access_log(struct lw_worker *worker)
{
    const char *where = worker->options->access_log;
    const char *why;
    if (!where)
        return true;
    worker->loop.access_log = lw_access_log_open(&worker->loop, where, &why);
    const char *user = worker->options->user;
    if (!worker->loop.access_log)
        fprintf(stderr, "luaweb: --access-log %s: %s%s%s\n", where, why,
                user ? ", as user " : "", user ? user : "");
    return worker->loop.access_log != NULL;
}

bool lw_worker_construct(struct lw_worker *worker, const struct lw_options *options,
                         const struct lw_inherited *inherited)
{
    memset(worker, 0, sizeof *worker);
    const struct lw_loop_calls calls = {worker, on_turn, on_drained};
    worker->options = options;
    worker->channel = inherited ? inherited->channel : -1;
    if (inherited)
        lw_watchdog_know_master();
    worker->is_first = !inherited || inherited->is_first;
    worker->calls = (struct lw_host_calls){.context = worker,
                                           .ended = on_ended,
                                           .loaded = on_loaded,
                                           .is_full = on_full,
                                           .exit_on_signal = on_exit_on_signal};
    int error = lw_loop_construct(&worker->loop, &options->limits, &calls);
    if (error) {
        fprintf(stderr, "luaweb: can't make an event loop: %s\n", uv_strerror(error));
        return false;
    }
    if (lw_networks_any(&options->trusted))
        worker->loop.trusted = &options->trusted;
    /* Commands that ask their own app, as test and check do, are no proxies. */
    worker->loop.demands_proxy_header = inherited && options->demands_proxy_header;
    worker->loop.unix_mode = options->unix_mode;
    if (options->health)
        lw_loop_show_health(&worker->loop, options->health);
    uv_timer_init(&worker->loop.uv, &worker->drain_timer);
    uv_timer_init(&worker->loop.uv, &worker->reaper);
    worker->drain_timer.data = worker->reaper.data = worker;
    lw_signals_watch(worker);
    lw_orders_watch(worker);
    lw_develop_begin(worker);
    return open_access_log(worker);
}

int lw_worker_run(struct lw_worker *worker, uint32_t generation)
{
    struct lw_slot *slot = lw_board_own();
    atomic_store(&slot->pid, (int32_t)getpid());
    atomic_store(&slot->state, LW_SLOT_LOADING);
    lw_worker_load(worker, generation);
    if (!worker->generations || worker->generations->state == LW_GENERATION_ENDED)
        return 1;
    return lw_loop_run(&worker->loop);
}

bool lw_worker_destruct(struct lw_worker *worker)
{
    lw_signals_forget();
    for (struct lw_generation *g = worker->generations; g; g = g->next)
        lw_generation_close(g);
    if (!lw_loop_close(&worker->loop))
        return false;
    while (worker->generations) {
        struct lw_generation *generation = worker->generations;
        worker->generations = generation->next;
        lw_generation_free(generation);
    }
    lw_loop_destruct(&worker->loop);
    lw_tables_forget();
    return true;
}

static void on_stop_late(uv_timer_t *timer)
{
    struct lw_worker *worker = timer->data;
    lw_log(LW_LOG_WARN, "stopping: on_stop was cut short after the drain timeout");
    lw_loop_exit(&worker->loop, 0);
}

static void on_drain_late(uv_timer_t *timer)
{
    struct lw_worker *worker = timer->data;
    uint32_t count = worker->loop.conn_count;
    uint64_t left_ms = worker->loop.limits.drain_timeout;
    uv_timer_start(timer, on_stop_late, left_ms, 0);
    for (struct lw_generation *g = worker->generations; g; g = g->next)
        if (g->state < LW_GENERATION_ENDED)
            lw_host_stop(&g->host, left_ms);
    if (worker->loop.is_drained)
        return;
    lw_log(LW_LOG_WARN, "stopping: %u connection%s cut after the drain timeout", count,
           count == 1 ? " was" : "s were");
    lw_conn_close_all(&worker->loop);
}

void lw_worker_drain(struct lw_worker *worker, uint64_t grace_ms, uint64_t deadline_ms)
{
    if (worker->loop.is_draining)
        return;
    if (deadline_ms > 0)
        uv_timer_start(&worker->drain_timer, on_drain_late, deadline_ms, 0);
    for (struct lw_generation *g = worker->generations; g; g = g->next)
        if (g->state < LW_GENERATION_RETIRING)
            lw_host_stopping(&g->host);
    atomic_store(&lw_board_own()->state, LW_SLOT_DRAINING);
    lw_loop_drain(&worker->loop, grace_ms);
}

void lw_worker_stop(struct lw_worker *worker, int code)
{
    if (worker->signal_exit_code || worker->loop.is_draining) {
        int own = worker->signal_exit_code;
        lw_loop_exit(&worker->loop, own ? own : code);
        return;
    }
    lw_worker_drain(worker, LW_DRAIN_GRACE_MS, worker->loop.limits.drain_timeout);
}

static void on_woken(uv_poll_t *poll, int status, int events)
{
    struct lw_worker *worker = poll->data;
    uint64_t count;
    int fd;
    (void)events;
    bool is_read = status == 0 && uv_fileno((uv_handle_t *)poll, &fd) == 0
                   && read(fd, &count, sizeof count) == sizeof count;
    if (!is_read)
        return;
    for (struct lw_generation *g = worker->generations; g; g = g->next)
        if (g->state < LW_GENERATION_ENDED)
            lw_host_woken(&g->host);
}

void lw_worker_be_woken_by(struct lw_worker *worker, int fd)
{
    if (worker->wake.data) /* the master says so once */
        return;
    uv_poll_init(&worker->loop.uv, &worker->wake, fd);
    worker->wake.data = worker;
    uv_poll_start(&worker->wake, UV_READABLE, on_woken);
}

void lw_worker_reopen(struct lw_worker *worker)
{
    if (worker->loop.access_log)
        lw_access_log_reopen(worker->loop.access_log);
}

/* Reloads that come fast must not pile up generations which wait for their last
 * requests: the oldest of too many waits no longer. */
static void bound_retiring(const struct lw_worker *worker)
{
    struct lw_generation *oldest = NULL;
    int count = 0;
    for (struct lw_generation *g = worker->generations; g; g = g->next) {
        if (g->state != LW_GENERATION_RETIRING || g->is_late)
            continue;
        oldest = g;
        count++;
    }
    if (count > MOST_RETIRING)
        lw_generation_hurry(oldest);
}

static struct lw_generation *find(const struct lw_worker *worker, uint32_t number)
{
    struct lw_generation *generation = worker->generations;
    while (generation && generation->number != number)
        generation = generation->next;
    return generation;
}

void lw_worker_load(struct lw_worker *worker, uint32_t number)
{
    const struct lw_options *options = worker->options;
    struct lw_generation *generation = lw_generation_load(
        &worker->loop, &worker->calls, number, options->argc, options->argv);
    if (generation) {
        generation->next = worker->generations;
        worker->generations = generation;
    }
    if (!generation || generation->state == LW_GENERATION_ENDED) {
        static const char why[] = "no Lua state could be started";
        lw_orders_tell_failure(worker, number, 1, why, sizeof why - 1);
    }
}

void lw_worker_switch(struct lw_worker *worker, uint32_t number)
{
    struct lw_generation *generation = find(worker, number);
    struct lw_generation *last = worker->serving;
    if (!generation || generation->state != LW_GENERATION_LOADED)
        return;
    worker->site = (struct lw_site){generation->app, &generation->host.owner};
    worker->serving = generation;
    generation->state = LW_GENERATION_SERVING;
    lw_watchdog_serve(&generation->host.watchdog);
    atomic_store(&lw_board_own()->generation, number);
    if (!worker->loop.is_draining)
        atomic_store(&lw_board_own()->state, LW_SLOT_READY);
    lw_conn_renew(&worker->loop, &worker->site);
    if (worker->loop.dev)
        lw_dev_switched(worker->loop.dev, number);
    if (last)
        lw_generation_retire(last);
    bound_retiring(worker);
    lw_orders_tell(worker, LW_MESSAGE_SWITCHED, number);
}

void lw_worker_discard(struct lw_worker *worker, uint32_t number)
{
    struct lw_generation *generation = find(worker, number);
    if (generation && generation != worker->serving)
        lw_generation_retire(generation);
}
