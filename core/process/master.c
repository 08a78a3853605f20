/* SPDX-License-Identifier: MIT
 *
 * The life of the master: it binds, starts the first worker, and then does what signals,
 * workers and the clock ask for. */
#include "process/master.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "process/cores.h"
#include "share/metrics.h"
#include "share/region.h"

#define FAILED 1
#define USAGE  2

static void on_stop(uv_signal_t *handle, int number)
{
    struct lw_master *master = handle->data;
    if (master->stop_count > 0 && number == SIGINT)
        master->exit_code = 128 + SIGINT;
    lw_stop(master, LW_DRAIN_GRACE_MS, false);
}

static void on_reload(uv_signal_t *handle, int number)
{
    (void)number;
    lw_reload_wish(handle->data, "asked for by SIGHUP", NULL, NULL);
}

static void on_reopen(uv_signal_t *handle, int number)
{
    struct lw_master *master = handle->data;
    struct lw_message message = {.kind = LW_MESSAGE_REOPEN};
    (void)number;
    for (uint32_t i = 0; i < master->worker_count; i++)
        lw_worker_tell(&master->children[i], &message, "", -1);
}

static void on_upgrade(uv_signal_t *handle, int number)
{
    (void)number;
    lw_upgrade_begin(handle->data);
}

static void watch_signals(struct lw_master *master)
{
    static const struct {
        int number;
        uv_signal_cb callback;
    } table[] = {
        {SIGTERM, on_stop   },
        {SIGINT,  on_stop   },
        {SIGQUIT, on_stop   },
        {SIGHUP,  on_reload },
        {SIGUSR1, on_reopen },
        {SIGUSR2, on_upgrade},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uv_signal_t *handle = &master->signals[i];
        uv_signal_init(&master->loop, handle);
        handle->data = master;
        uv_signal_start(handle, table[i].callback, table[i].number);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a full log is an error, not the end */
}

static bool share_memory(struct lw_master *master)
{
    if (master->shared < 0)
        master->shared = lw_share_create();
    if (master->shared >= 0 && lw_share_open(master->shared)) {
        master->board = lw_board();
        return true;
    }
    fprintf(stderr, "luaweb: can't make shared memory: %s\n",
            strerror(master->shared < 0 ? -master->shared : errno));
    return false;
}

static int construct(struct lw_master *master)
{
    int error = uv_loop_init(&master->loop);
    if (error) {
        fprintf(stderr, "luaweb: can't make an event loop: %s\n", uv_strerror(error));
        return FAILED;
    }
    const char *fds = lw_upgrade_inherit(master);
    if (!share_memory(master))
        return FAILED;
    int code = lw_outside_prepare(master, fds);
    if (!code)
        code = lw_listeners_open(master, fds);
    if (code)
        return code;
    lw_metrics_take(LW_METRIC_MASTER);
    code = lw_monitored_open(master, fds);
    if (code) {
        lw_listeners_close(master, false);
        return code;
    }
    code = lw_outside_open(master);
    if (code) {
        lw_listeners_close(master, false);
        return code;
    }
    master->core_count = lw_cores_list(master->cores, LW_WORKERS_MOST);
    uv_timer_init(&master->loop, &master->tick);
    uv_timer_init(&master->loop, &master->stop_limit);
    uv_timer_init(&master->loop, &master->reload.limit);
    lw_workers_construct(master);
    watch_signals(master);
    if (!fds) /* else the last master answers until this one serves */
        lw_outside_serve(master);
    return 0;
}

int lw_master_run(const struct lw_options *options, char **argv)
{
    static struct lw_master master = {
        .shared = -1,
        .upgrade = {.channel = -1, .origin = -1, .last = -1},
        .outside = {.control_fd = -1,             .systemd = {.fd = -1}         },
        .generation = 1,
        .worker_count = 1,
    };
    master.options = options;
    master.argv = argv;
    if (options->word_count != 1) {
        fputs("luaweb: want one app, e.g.: luaweb apps/hello.lua\n"
              "Try: luaweb --help\n",
              stderr);
        return USAGE;
    }
    lw_upgrade_detach();
    int code = construct(&master);
    if (!code && !lw_worker_start(&master.children[0]))
        code = FAILED;
    if (!code)
        uv_run(&master.loop, UV_RUN_DEFAULT);
    lw_monitored_close(&master.monitored, master.upgrade.origin >= 0);
    lw_outside_close(&master);
    return code ? code : master.exit_code;
}
