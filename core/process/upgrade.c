/* SPDX-License-Identifier: MIT
 *
 * A binary upgrade: the executable that lies at the path of argv[0] now is started as a
 * new master, which inherits the sockets and the shared memory and starts workers of its
 * own.  When these serve, it says so, and the old master drains.  Where it ends before
 * that, or takes too long, the old one goes on as if nothing had been.
 *
 * LUAWEB_UPGRADE is "channel:shared:slot:generation", then a word "listen.place.slot.fd"
 * for each socket, then what lw_outside_hand_on writes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/require.h"
#include "process/announce.h"
#include "process/environment.h"
#include "process/master.h"

#define LIMIT_MS    60000
#define IDLE_MS     5000 /* grace for idle connections of the old workers */
#define WORD_OCTETS 52

/* What the new master inherits behind the standard streams. */
enum {
    CHANNEL_FD = 3,
    SHARED_FD,
    FIRST_SOCKET_FD
};

struct heritage {
    uv_stdio_container_t *stdio;
    int count;
    char *text;
};

static void inherit_fd(struct heritage *heritage, int fd)
{
    heritage->stdio[heritage->count++] =
        (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = fd};
}

/* Where on the board its workers are. */
static uint32_t first_slot_of_next(const struct lw_master *master)
{
    return master->first_slot ? 0 : LW_WORKERS_MOST;
}

/* Fills in what the new master gets; the caller frees stdio and text. */
static void write_heritage(struct lw_master *master, struct heritage *heritage,
                           int channel)
{
    size_t most = FIRST_SOCKET_FD + 2 + (size_t)master->place_count * LW_WORKERS_MOST;
    size_t room = (most + 1) * WORD_OCTETS + LW_OUTSIDE_ROOM;
    heritage->stdio = lw_alloc(most * sizeof *heritage->stdio);
    heritage->text = lw_alloc(room);
    for (int fd = 0; fd < CHANNEL_FD; fd++)
        inherit_fd(heritage, fd);
    inherit_fd(heritage, channel);
    inherit_fd(heritage, master->shared);
    uint32_t slot = first_slot_of_next(master);
    int at = snprintf(heritage->text, room, "%d:%d:%u:%u", CHANNEL_FD, SHARED_FD, slot,
                      master->generation + 1);
    for (uint32_t i = 0; i < master->place_count; i++)
        for (uint32_t j = 0; j < LW_WORKERS_MOST; j++) {
            int fd = master->places[i].fds[j];
            if (fd < 0)
                continue;
            at += snprintf(heritage->text + at, room - (size_t)at, " %u.%u.%u.%d",
                           master->places[i].listen, i, j, heritage->count);
            inherit_fd(heritage, fd);
        }
    int metrics;
    at += (int)lw_monitored_hand_on(&master->monitored, heritage->text + at,
                                    room - (size_t)at, heritage->count, &metrics);
    if (metrics >= 0)
        inherit_fd(heritage, metrics);
    int control =
        lw_outside_hand_on(&master->outside, heritage->text + at, heritage->count);
    if (control >= 0)
        inherit_fd(heritage, control);
}

static void on_closed(uv_handle_t *handle)
{
    struct lw_upgrade *upgrade = handle->data;
    upgrade->closing_count--;
}

/* The handle is libuv's until on_closed: no upgrade may begin with it before. */
static void close_handle(struct lw_upgrade *upgrade, uv_handle_t *handle)
{
    upgrade->closing_count++;
    handle->data = upgrade;
    uv_close(handle, on_closed);
}

/* What belongs to an upgrade that runs, but its process. */
static void close_upgrade(struct lw_upgrade *upgrade)
{
    uv_timer_stop(&upgrade->limit);
    close_handle(upgrade, (uv_handle_t *)&upgrade->heard);
    close(upgrade->channel);
    upgrade->channel = -1;
    upgrade->is_running = false;
}

static void on_ended(uv_process_t *process, int64_t code, int number)
{
    struct lw_upgrade *upgrade = process->data;
    close_handle(upgrade, (uv_handle_t *)process);
    if (!upgrade->is_running || upgrade->pid != process->pid)
        return;
    if (code == 0 && number == 0 && !upgrade->is_silent)
        return; /* it moves, or its channel will end */
    close_upgrade(upgrade);
    if (number)
        lw_log(
            LW_LOG_ERROR,
            "upgrade: the new executable was ended by signal %d (%s), this one goes on",
            number, strsignal(number));
    else
        lw_log(LW_LOG_ERROR,
               "upgrade: the new executable ended with exit code %d, this one goes on",
               (int)code);
}

static void on_limit(uv_timer_t *limit)
{
    struct lw_upgrade *upgrade = limit->data;
    lw_log(LW_LOG_ERROR, "upgrade: the new executable did not serve after %d s",
           LIMIT_MS / 1000);
    kill(upgrade->pid, SIGKILL);
}

/* The new master has said that it serves, or is gone: then its end is told elsewhere. */
static void on_heard(uv_poll_t *heard, int status, int events)
{
    static char text[LW_MESSAGE_TEXT + 1];
    struct lw_master *master = heard->data;
    struct lw_upgrade *upgrade = &master->upgrade;
    struct lw_message message;
    int fd = -1;
    (void)events;
    int result =
        status < 0 ? 0 : lw_channel_receive(upgrade->channel, &message, text, &fd);
    if (result == -EAGAIN)
        return;
    if (result == 1 && message.kind == LW_MESSAGE_MOVED) {
        upgrade->pid = message.code;
        return;
    }
    uv_poll_stop(heard);
    upgrade->is_silent = result != 1;
    if (upgrade->is_silent && !uv_is_active((uv_handle_t *)&upgrade->process)) {
        lw_log(LW_LOG_ERROR, "upgrade: the new executable ended before it served, this"
                             " one goes on");
        close_upgrade(upgrade);
    }
    if (result != 1 || message.kind != LW_MESSAGE_TAKEN_OVER)
        return;
    lw_log(LW_LOG_INFO, "upgrade: pid %d serves, this one ends", upgrade->pid);
    close_upgrade(upgrade);
    lw_announce_successor(master, upgrade->pid);
    lw_stop(master, IDLE_MS, true);
}

static int spawn(struct lw_master *master, int theirs)
{
    struct heritage heritage = {0};
    write_heritage(master, &heritage, theirs);
    char **environment = lw_environment_with("LUAWEB_UPGRADE", heritage.text);
    uv_process_options_t options = {
        .exit_cb = on_ended,
        .file = master->argv[0],
        .args = master->argv,
        .env = environment,
        .stdio = heritage.stdio,
        .stdio_count = heritage.count,
    };
    int error = uv_spawn(&master->loop, &master->upgrade.process, &options);
    lw_environment_free(environment);
    free(heritage.text);
    free(heritage.stdio);
    return error;
}

/* Whether a process has one of the slots that the new workers would have: one of the
 * executable before this, which drains. */
static bool are_slots_taken(const struct lw_master *master)
{
    uint32_t first = first_slot_of_next(master);
    for (uint32_t i = first; i < first + LW_WORKERS_MOST; i++) {
        pid_t pid = master->board->slots[i].pid;
        if (pid > 0 && (kill(pid, 0) == 0 || errno == EPERM))
            return true;
    }
    return false;
}

/* NULL: an upgrade may begin. */
static const char *why_not(const struct lw_master *master)
{
    const struct lw_upgrade *upgrade = &master->upgrade;
    if (master->stop_count > 0)
        return "the server stops";
    if (upgrade->is_running || upgrade->closing_count > 0)
        return "the server is being upgraded";
    if (!master->has_served || upgrade->origin >= 0)
        return "the server has not begun to serve";
    if (are_slots_taken(master))
        return "workers of the executable before this one still drain";
    return NULL;
}

void lw_upgrade_begin(struct lw_master *master)
{
    struct lw_upgrade *upgrade = &master->upgrade;
    int ends[2];
    const char *why = why_not(master);
    if (why) {
        lw_log(LW_LOG_WARN, "upgrade: not now, %s", why);
        return;
    }
    int failed = lw_channel_open(ends);
    if (failed) {
        lw_log(LW_LOG_ERROR, "upgrade: can't start %s: %s", master->argv[0],
               strerror(-failed));
        return;
    }
    lw_log(LW_LOG_INFO, "upgrade: starts %s", master->argv[0]);
    int error = spawn(master, ends[1]);
    close(ends[1]);
    upgrade->process.data = upgrade;
    if (error) {
        lw_log(LW_LOG_ERROR, "upgrade: can't start %s: %s", master->argv[0],
               uv_strerror(error));
        close_handle(upgrade, (uv_handle_t *)&upgrade->process);
        close(ends[0]);
        return;
    }
    upgrade->is_running = true;
    upgrade->is_silent = false;
    upgrade->pid = upgrade->process.pid;
    upgrade->channel = ends[0];
    uv_poll_init(&master->loop, &upgrade->heard, upgrade->channel);
    upgrade->heard.data = master;
    uv_poll_start(&upgrade->heard, UV_READABLE, on_heard);
    upgrade->limit.data = upgrade;
    uv_timer_start(&upgrade->limit, on_limit, LIMIT_MS, 0);
}

void lw_upgrade_cancel(struct lw_master *master)
{
    struct lw_upgrade *upgrade = &master->upgrade;
    if (!upgrade->is_running)
        return;
    kill(upgrade->pid, SIGTERM);
    close_upgrade(upgrade);
}

void lw_upgrade_detach(void)
{
    if (!getenv("LUAWEB_UPGRADE") || !getenv("NOTIFY_SOCKET"))
        return;
    pid_t pid = fork();
    if (pid > 0)
        _exit(0);
}

const char *lw_upgrade_inherit(struct lw_master *master)
{
    struct lw_upgrade *upgrade = &master->upgrade;
    const char *text = getenv("LUAWEB_UPGRADE");
    uv_timer_init(&master->loop, &upgrade->limit);
    if (!text
        || sscanf(text, "%d:%d:%u:%u", &upgrade->origin, &master->shared,
                  &master->first_slot, &master->generation)
               != 4)
        return NULL;
    fcntl(upgrade->origin, F_SETFD, FD_CLOEXEC);
    fcntl(master->shared, F_SETFD, FD_CLOEXEC);
    lw_outside_inherit(&master->outside, text);
    struct lw_message message = {.kind = LW_MESSAGE_MOVED, .code = (int32_t)getpid()};
    lw_channel_send(upgrade->origin, &message, "", 0, -1);
    return strchr(text, ' ');
}

void lw_upgrade_ready(struct lw_master *master)
{
    struct lw_upgrade *upgrade = &master->upgrade;
    struct lw_message message = {.kind = LW_MESSAGE_TAKEN_OVER};
    if (upgrade->origin < 0)
        return;
    lw_channel_send(upgrade->origin, &message, "", 0, -1);
    close(upgrade->origin);
    upgrade->origin = -1;
}
