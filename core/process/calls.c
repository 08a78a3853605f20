/* SPDX-License-Identifier: MIT
 *
 * What the master does when it is told to over the control socket. */
#include <stdlib.h>

#include "base/require.h"
#include "process/master.h"

/* Who waits for a reload. */
struct waiting {
    struct lw_master *master;
    uint32_t number; /* of the command */
};

static void on_reloaded(void *context, int code, const char *text)
{
    struct waiting *waiting = context;
    struct lw_outside *outside = &waiting->master->outside;
    if (outside->has_control)
        lw_control_answer(&outside->control, waiting->number, code, text);
    free(waiting);
}

static void reload(void *context, uint32_t number)
{
    struct waiting *waiting = lw_alloc(sizeof *waiting);
    *waiting = (struct waiting){context, number};
    lw_reload_wish(context, "asked for on the control socket", on_reloaded, waiting);
}

/* Asked again it goes on draining: only `stop now` cuts. */
static void stop(void *context, bool is_at_once)
{
    struct lw_master *master = context;
    if (master->stop_count == 0)
        lw_stop(master, LW_DRAIN_GRACE_MS, false);
    if (is_at_once && master->stop_count == 1)
        lw_stop(master, 0, false);
}

static const char *state_of(const struct lw_master *master)
{
    if (master->stop_count > 0)
        return "stopping";
    if (master->upgrade.is_running)
        return "upgrading";
    if (master->reload.generation != 0)
        return "reloading";
    return master->is_announced ? "running" : "starting";
}

/* What serves; 0: nothing does. */
static uint32_t serving_generation(const struct lw_master *master)
{
    for (uint32_t i = 0; i < master->worker_count; i++)
        if (master->children[i].state == LW_CHILD_READY)
            return master->children[i].generation;
    return 0;
}

static void status(void *context, struct lw_status *status)
{
    struct lw_master *master = context;
    struct lw_outside *outside = &master->outside;
    size_t size = ((size_t)master->place_count + 1) * sizeof *outside->shown;
    outside->shown = lw_realloc(outside->shown, size);
    for (uint32_t i = 0; i < master->place_count; i++)
        outside->shown[i] = master->places[i].shown;
    *status = (struct lw_status){
        .state = state_of(master),
        .app = master->options->word,
        .listeners = outside->shown,
        .listener_count = master->place_count,
        .first_slot = master->first_slot,
        .worker_count = master->worker_count,
        .generation = serving_generation(master),
        .reloads = outside->reloads,
        .failed_reloads = outside->failed_reloads,
        .restarts = outside->restarts,
        .uptime_ms = uv_now(&master->loop) - outside->began_ms,
    };
}

void lw_calls_fill(struct lw_control_calls *calls, struct lw_master *master)
{
    *calls = (struct lw_control_calls){
        .context = master,
        .reload = reload,
        .stop = stop,
        .status = status,
    };
}
