/* SPDX-License-Identifier: MIT
 *
 * The end of the server: workers are told to drain, the sockets are closed, and the
 * master ends when the last worker has.  A second wish has them end at once, and kills
 * those that don't. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "process/announce.h"
#include "process/master.h"

#define PATIENCE_MS 5000 /* for workers whose own deadlines are over */
#define QUIT_MS     1000 /* for those that are told to end at once */

static void kill_all(struct lw_master *master)
{
    for (uint32_t i = 0; i < LW_WORKERS_MOST; i++)
        lw_worker_kill(&master->children[i]);
}

static void on_limit(uv_timer_t *limit)
{
    struct lw_master *master = limit->data;
    lw_log(LW_LOG_WARN, "stopping: workers that had not ended in time are killed");
    kill_all(master);
}

static void drain(struct lw_child *child, uint64_t grace_ms)
{
    uv_timer_stop(&child->again);
    if (child->state == LW_CHILD_NONE)
        return;
    struct lw_message message = {
        .kind = LW_MESSAGE_DRAIN,
        .grace_ms = grace_ms,
        .deadline_ms = child->master->options->limits.drain_timeout,
    };
    lw_worker_tell(child, &message, "", -1);
    child->state = LW_CHILD_ENDING;
}

static void quit_all(struct lw_master *master)
{
    struct lw_message message = {.kind = LW_MESSAGE_QUIT};
    for (uint32_t i = 0; i < LW_WORKERS_MOST; i++)
        lw_worker_tell(&master->children[i], &message, "", -1);
    uv_timer_start(&master->stop_limit, on_limit, QUIT_MS, 0);
}

void lw_stop(struct lw_master *master, uint64_t grace_ms, bool others_go_on)
{
    master->stop_limit.data = master;
    if (++master->stop_count > 1) {
        quit_all(master);
        return;
    }
    uint64_t timeout_ms = master->options->limits.drain_timeout;
    lw_announce_stopping(master);
    if (!others_go_on)
        lw_upgrade_cancel(master);
    lw_reload_end(master);
    for (uint32_t i = 0; i < LW_WORKERS_MOST; i++)
        drain(&master->children[i], grace_ms);
    lw_listeners_close(master, others_go_on);
    if (others_go_on) /* else it shows how the end comes */
        lw_monitored_close(&master->monitored, true);
    if (timeout_ms > 0) /* on_stop may take as long as requests did */
        uv_timer_start(&master->stop_limit, on_limit,
                       grace_ms + 2 * timeout_ms + PATIENCE_MS, 0);
    lw_stop_check(master);
}

void lw_stop_check(struct lw_master *master)
{
    for (uint32_t i = 0; i < LW_WORKERS_MOST; i++)
        if (master->children[i].state != LW_CHILD_NONE)
            return;
    uv_stop(&master->loop);
}

void lw_stop_now(struct lw_master *master, int code)
{
    master->stop_count++;
    master->exit_code = code;
    lw_listeners_close(master, false);
    uv_stop(&master->loop);
}
