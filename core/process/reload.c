/* SPDX-License-Identifier: MIT
 *
 * A new generation in all workers, in two phases: each loads it beside the old one; only
 * when all have, all are told to serve with it.  Where one fails, ends or takes too
 * long, the others forget it, and the old generation goes on everywhere.
 *
 * One worker loads it before the others are asked: a script that never comes to its end,
 * or that ends the process, must not cost all of them.
 *
 * A worker that is started meanwhile loads what is newest, and the reload waits for it.
 * One wish stands for all that come while a reload runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/require.h"
#include "process/announce.h"
#include "process/master.h"

#define LIMIT_MS 60000 /* for all to load, and for all to switch */

struct lw_reload_wish {
    struct lw_reload_wish *next;
    lw_reload_done done;
    void *context;
    bool is_running; /* the reload that runs answers it */
};

static void begin_soon(struct lw_master *master);

/* How many of the workers are at this step. */
static uint32_t count_at(const struct lw_master *master, enum lw_reload_step step)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < master->worker_count; i++)
        count += master->children[i].step == step;
    return count;
}

/* Tells a worker that is at this step. */
static void tell_at(struct lw_master *master, enum lw_reload_step step,
                    enum lw_message_kind kind)
{
    struct lw_message message = {.kind = kind, .generation = master->reload.generation};
    for (uint32_t i = 0; i < master->worker_count; i++) {
        struct lw_child *child = &master->children[i];
        if (child->step == step && child->state == LW_CHILD_READY)
            lw_worker_tell(child, &message, "", -1);
    }
}

static void answer_wishes(struct lw_master *master, int code, const char *text)
{
    struct lw_reload_wish **at = &master->reload.wishes;
    while (*at) {
        struct lw_reload_wish *wish = *at;
        if (!wish->is_running) {
            at = &wish->next;
            continue;
        }
        *at = wish->next;
        if (wish->done)
            wish->done(wish->context, code, text);
        free(wish);
    }
}

/* The reload has ended; the next one, if it was wished for meanwhile, begins. */
static void end(struct lw_master *master, int code, const char *text)
{
    lw_log(code ? LW_LOG_ERROR : LW_LOG_INFO, "%s%.900s",
           code ? "reload: the old generation goes on: " : "reload: ", text);
    uv_timer_stop(&master->reload.limit);
    for (uint32_t i = 0; i < master->worker_count; i++)
        master->children[i].step = LW_STEP_NONE;
    master->reload.generation = 0;
    lw_announce_reloaded(master, code == 0);
    answer_wishes(master, code, text);
    if (master->reload.is_wished && master->stop_count == 0)
        begin_soon(master);
}

/* `failed` needs no telling; NULL: everybody does. */
static void give_up(struct lw_master *master, struct lw_child *failed, const char *text)
{
    if (failed)
        failed->step = LW_STEP_NONE;
    tell_at(master, LW_STEP_WAITED, LW_MESSAGE_DISCARD);
    tell_at(master, LW_STEP_LOADED, LW_MESSAGE_DISCARD);
    end(master, 1, text);
}

static void succeed(struct lw_master *master)
{
    char text[128];
    uint32_t count = count_at(master, LW_STEP_SWITCHED);
    snprintf(text, sizeof text, "generation %u serves in %u worker%s, after %llu ms",
             master->reload.generation, count, count == 1 ? "" : "s",
             (unsigned long long)(uv_now(&master->loop) - master->reload.began_ms));
    end(master, 0, text);
}

static void on_limit(uv_timer_t *limit)
{
    struct lw_master *master = limit->data;
    char text[128];
    if (master->reload.is_switching) {
        lw_log(LW_LOG_WARN, "reload: %u workers still serve the old generation",
               count_at(master, LW_STEP_LOADED));
        succeed(master);
        return;
    }
    snprintf(text, sizeof text, "%u worker(s) had not loaded it after %d s",
             count_at(master, LW_STEP_WAITED), LIMIT_MS / 1000);
    give_up(master, NULL, text);
}

/* A worker that waits to be started again is started at once: what it failed of may have
 * been mended.  Not right here: it may have ended in this very turn of the loop.  One
 * that is being started may load what is old, and never come to the end of it: then the
 * watchdog ends it. */
static void ask(struct lw_child *child)
{
    struct lw_master *master = child->master;
    struct lw_message message = {.kind = LW_MESSAGE_LOAD,
                                 .generation = master->reload.generation};
    if (child->state == LW_CHILD_NONE) {
        child->back_off_ms = 0;
        lw_worker_start_later(child);
    } else if (child->state == LW_CHILD_READY) {
        lw_worker_tell(child, &message, "", -1);
    }
    child->loads_old = child->state == LW_CHILD_LOADING;
    child->step = child->state == LW_CHILD_ENDING ? LW_STEP_NONE : LW_STEP_WAITED;
}

/* Asks `most` of those that serve and were not asked yet. */
static void ask_ready(struct lw_master *master, uint32_t most)
{
    for (uint32_t i = 0; i < master->worker_count && most > 0; i++) {
        struct lw_child *child = &master->children[i];
        bool has_it = child->generation == master->reload.generation;
        if (child->state != LW_CHILD_READY || child->step != LW_STEP_NONE || has_it)
            continue;
        ask(child);
        most--;
    }
}

/* Goes on where nobody is waited for any more. */
static void go_on(struct lw_master *master)
{
    struct lw_reload *reload = &master->reload;
    if (!reload->is_switching && count_at(master, LW_STEP_WAITED) == 0)
        ask_ready(master, LW_WORKERS_MOST);
    if (!reload->is_switching && count_at(master, LW_STEP_WAITED) == 0) {
        reload->is_switching = true;
        uv_timer_start(&reload->limit, on_limit, LIMIT_MS, 0);
        tell_at(master, LW_STEP_LOADED, LW_MESSAGE_SWITCH);
    }
    if (reload->is_switching && count_at(master, LW_STEP_LOADED) == 0)
        succeed(master);
}

static void begin(struct lw_master *master)
{
    struct lw_reload *reload = &master->reload;
    reload->is_wished = false;
    reload->is_switching = false;
    reload->generation = ++master->generation;
    reload->began_ms = uv_now(&master->loop);
    for (struct lw_reload_wish *wish = reload->wishes; wish; wish = wish->next)
        wish->is_running = true;
    uv_timer_start(&reload->limit, on_limit, LIMIT_MS, 0);
    lw_announce_reloading(master);
    for (uint32_t i = 0; i < master->worker_count; i++)
        if (master->children[i].state != LW_CHILD_READY)
            ask(&master->children[i]);
    ask_ready(master, 1);
    if (count_at(master, LW_STEP_WAITED) == 0)
        give_up(master, NULL, "there is no worker that could load it");
}

static void on_begin(uv_timer_t *limit)
{
    begin(limit->data);
}

/* Not at once: we may be within the end of a worker, whose handles close until the
 * loop comes around, and it is started again. */
static void begin_soon(struct lw_master *master)
{
    master->reload.limit.data = master;
    uv_timer_start(&master->reload.limit, on_begin, 0, 0);
}

void lw_reload_wish(struct lw_master *master, const char *why, lw_reload_done done,
                    void *context)
{
    struct lw_reload *reload = &master->reload;
    if (master->stop_count > 0) {
        if (done)
            done(context, 1, "the server stops");
        return;
    }
    struct lw_reload_wish *wish = lw_alloc(sizeof *wish);
    *wish = (struct lw_reload_wish){reload->wishes, done, context, false};
    reload->wishes = wish;
    lw_log(LW_LOG_INFO, "reload: %s%s", why,
           reload->generation ? " (after the one that runs)" : "");
    reload->is_wished = true;
    if (reload->generation == 0)
        begin_soon(master);
}

void lw_reload_loaded(struct lw_child *child, uint32_t generation)
{
    struct lw_master *master = child->master;
    child->loads_old = false;
    if (child->step != LW_STEP_WAITED)
        return;
    if (child->generation == master->reload.generation)
        child->step = LW_STEP_SWITCHED; /* it was started with it */
    else if (generation == master->reload.generation)
        child->step = LW_STEP_LOADED;
    else
        child->step = LW_STEP_NONE; /* it was being started when the reload began */
    go_on(master);
}

void lw_reload_failed(struct lw_child *child, uint32_t generation, const char *text)
{
    struct lw_master *master = child->master;
    if (child->step != LW_STEP_NONE && generation == master->reload.generation
        && !master->reload.is_switching)
        give_up(master, child, text);
}

void lw_reload_switched(struct lw_child *child, uint32_t generation)
{
    child->generation = generation;
    if (child->step != LW_STEP_LOADED || generation != child->master->reload.generation)
        return;
    child->step = LW_STEP_SWITCHED;
    go_on(child->master);
}

void lw_reload_died(struct lw_child *child, const char *how)
{
    struct lw_master *master = child->master;
    char text[96];
    enum lw_reload_step step = child->step;
    bool is_done_with_old = child->loads_old && child->stall.is_asked;
    child->step = LW_STEP_NONE;
    child->loads_old = false;
    if (step == LW_STEP_NONE || master->stop_count > 0)
        return;
    if (is_done_with_old) {
        ask(child);
        return;
    }
    if (master->reload.is_switching) {
        go_on(master);
        return;
    }
    snprintf(text, sizeof text, "worker %u %s meanwhile, the log says how: ask again",
             child->number + 1, how);
    give_up(master, child, text);
}

void lw_reload_end(struct lw_master *master)
{
    uv_timer_stop(&master->reload.limit);
    for (struct lw_reload_wish *wish = master->reload.wishes; wish; wish = wish->next)
        wish->is_running = true;
    answer_wishes(master, 1, "the server stops");
}
