/* SPDX-License-Identifier: MIT
 *
 * Telling service managers and the pid file what has become of the server. */
#include "process/announce.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "process/master.h"
#include "process/pid_file.h"
#include "share/metrics.h"

/* Whether somebody can answer: what systemd wants to know.  A turn may be as long as
 * the time between two of its looks. */
static bool is_alive(void *context)
{
    const struct lw_master *master = context;
    uint64_t limit_ms = master->outside.systemd.watchdog_us / 2000;
    if (master->stop_count > 0)
        return true;
    for (uint32_t i = 0; i < master->worker_count; i++) {
        const struct lw_child *child = &master->children[i];
        const struct lw_slot *slot = &master->board->slots[child->slot];
        if (child->state == LW_CHILD_READY && lw_slot_still_ms(slot) < limit_ms)
            return true;
    }
    return false;
}

static void tell_ready(struct lw_master *master)
{
    char text[256];
    snprintf(text, sizeof text, "Serves %.80s on %.80s%s: %u worker%s, generation %u",
             master->options->word,
             master->place_count ? master->places[0].shown : "nothing",
             master->place_count > 1 ? " and others" : "", master->worker_count,
             master->worker_count == 1 ? "" : "s", master->children[0].generation);
    lw_systemd_ready(&master->outside.systemd, text);
}

void lw_announce_ready(struct lw_master *master)
{
    struct lw_outside *outside = &master->outside;
    int error = outside->pid_path ? lw_pid_file_write(outside->pid_path) : 0;
    if (error)
        lw_log(LW_LOG_ERROR, "can't write the pid file %s: %s", outside->pid_path,
               strerror(-error));
    lw_outside_serve(master); /* after an upgrade; else it is served already */
    tell_ready(master);
    lw_systemd_watch(&outside->systemd, &master->loop, is_alive, master);
}

void lw_announce_reloading(struct lw_master *master)
{
    lw_systemd_reloading(&master->outside.systemd);
}

void lw_announce_reloaded(struct lw_master *master, bool is_done)
{
    struct lw_outside *outside = &master->outside;
    if (is_done)
        outside->reloads++;
    else
        outside->failed_reloads++;
    lw_metrics_add(lw_metrics_own(),
                   is_done ? LW_METRIC_RELOADS : LW_METRIC_RELOADS_FAILED, 1);
    tell_ready(master);
}

void lw_announce_successor(struct lw_master *master, int pid)
{
    struct lw_outside *outside = &master->outside;
    lw_systemd_hand_over(&outside->systemd, pid);
    lw_systemd_close(&outside->systemd);
    if (outside->has_control)
        lw_control_close(&outside->control, true);
    outside->has_control = false;
}

void lw_announce_stopping(struct lw_master *master)
{
    struct lw_outside *outside = &master->outside;
    lw_systemd_stopping(&outside->systemd);
    if (outside->has_control)
        lw_control_end(&outside->control);
}
