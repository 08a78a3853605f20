/* SPDX-License-Identifier: MIT
 *
 * What workers say to the master. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/require.h"
#include "process/announce.h"
#include "process/master.h"

#define MESSAGES_AT_ONCE 64

/* How many workers there are: what the app wants, else the option, else one per core. */
static uint32_t wanted_workers(const struct lw_master *master, uint32_t apps)
{
    uint32_t wanted = apps                       ? apps
                      : master->options->workers ? master->options->workers
                                                 : master->core_count;
    if (wanted <= LW_WORKERS_MOST)
        return wanted;
    lw_log(LW_LOG_WARN, "%u workers are wanted, but there are %u at most", wanted,
           LW_WORKERS_MOST);
    return LW_WORKERS_MOST;
}

/* Tells people what is served where.  A list of routes that was too long for a message
 * ends with its last whole line. */
static void print_served(const struct lw_master *master, const char *routes)
{
    for (uint32_t i = 0; i < master->place_count; i++) {
        const struct lw_place *place = &master->places[i];
        if (i == 0 || place->listen != place[-1].listen)
            printf("luaweb serves %s on %s\n", master->options->word, place->shown);
    }
    size_t size = strlen(routes);
    bool is_cut = size >= LW_MESSAGE_TEXT;
    while (is_cut && size > 0 && routes[size - 1] != '\n')
        size--;
    if (size > 0)
        printf("%.*s%s\n", (int)size, routes,
               is_cut ? "  ... (see: luaweb routes)" : "");
    fflush(stdout);
}

/* The first worker is ready: only now others are started, and sockets for them. */
static void begin_serving(struct lw_master *master, uint32_t apps_workers)
{
    master->has_served = true;
    master->apps_workers = apps_workers;
    uint32_t count = wanted_workers(master, apps_workers);
    master->worker_count = lw_listeners_widen(master, count);
    master->board->worker_count = master->first_slot + master->worker_count;
    lw_cover_watch(master);
    for (uint32_t i = 1; i < master->worker_count; i++)
        if (!lw_worker_start(&master->children[i]))
            lw_worker_start_later(&master->children[i]);
}

/* A new executable takes over when all its workers are ready; else it is enough that
 * each has been tried. */
void lw_messages_announce(struct lw_master *master)
{
    bool is_upgrade = master->upgrade.origin >= 0;
    uint32_t ready = lw_workers_in(master, LW_CHILD_READY);
    uint32_t loading = lw_workers_in(master, LW_CHILD_LOADING);
    bool is_ready = is_upgrade ? ready == master->worker_count : loading == 0;
    if (master->is_announced || ready == 0 || !is_ready)
        return;
    master->is_announced = true;
    lw_upgrade_ready(master);
    lw_announce_ready(master);
}

/* The first generation of a worker is loaded. */
static void become_ready(struct lw_child *child, const struct lw_message *message,
                         const char *routes)
{
    struct lw_master *master = child->master;
    child->state = LW_CHILD_READY;
    child->generation = message->generation;
    lw_cover_own(child);
    if (!master->has_served) {
        print_served(master, routes);
        begin_serving(master, message->workers);
    }
    lw_cover_settle(master);
    lw_messages_announce(master);
}

/* The number of workers is that of the start. */
static void note_workers(struct lw_master *master, uint32_t apps_workers)
{
    if (master->apps_workers == apps_workers)
        return;
    master->apps_workers = apps_workers;
    if (wanted_workers(master, apps_workers) != master->worker_count)
        lw_log(LW_LOG_WARN,
               "the app wants %u workers now; there are %u until the next start",
               wanted_workers(master, apps_workers), master->worker_count);
}

static void on_loaded(struct lw_child *child, const struct lw_message *message,
                      const char *routes)
{
    if (child->state == LW_CHILD_READY)
        note_workers(child->master, message->workers);
    if (child->state == LW_CHILD_LOADING)
        become_ready(child, message, routes);
    lw_reload_loaded(child, message->generation);
}

static void on_failed(struct lw_child *child, const struct lw_message *message,
                      const char *text)
{
    if (child->state == LW_CHILD_LOADING && !child->failure)
        child->failure = strdup(text);
    lw_reload_failed(child, message->generation, text);
}

static void on_message(struct lw_child *child, const struct lw_message *message,
                       const char *text)
{
    if (child->master->stop_count > 0)
        return;
    switch (message->kind) {
    case LW_MESSAGE_LOADED: on_loaded(child, message, text); break;
    case LW_MESSAGE_FAILED: on_failed(child, message, text); break;
    case LW_MESSAGE_SWITCHED: lw_reload_switched(child, message->generation); break;
    case LW_MESSAGE_RELOAD: lw_reload_wish(child->master, text, NULL, NULL); break;
    default: break; /* RETIRED: nothing depends on it */
    }
}

/* When the other side is gone, so is the worker soon: its end is told elsewhere. */
static void on_heard(uv_poll_t *heard, int status, int events)
{
    static char text[LW_MESSAGE_TEXT + 1];
    struct lw_child *child = heard->data;
    (void)events;
    for (int i = 0; i < MESSAGES_AT_ONCE && child->channel >= 0; i++) {
        struct lw_message message;
        int fd = -1;
        int result =
            status < 0 ? 0 : lw_channel_receive(child->channel, &message, text, &fd);
        if (fd >= 0)
            close(fd); /* nobody sends us one */
        if (result == 1)
            on_message(child, &message, text);
        else if (result == -EAGAIN)
            return;
        else {
            uv_poll_stop(heard);
            return;
        }
    }
}

int lw_messages_hear(struct lw_child *child)
{
    int error = uv_poll_init(&child->master->loop, &child->heard, child->channel);
    child->heard.data = child;
    return error ? error : uv_poll_start(&child->heard, UV_READABLE, on_heard);
}
