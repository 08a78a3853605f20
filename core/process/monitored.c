/* SPDX-License-Identifier: MIT
 *
 * The address of --metrics. */
#include "process/monitored.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "process/address.h"
#include "process/master.h"
#include "process/who_listens.h"

#define WORD " metrics."

enum {
    USAGE = 2,
    CANNOT_LISTEN = 3
};

static int say_failure(const struct lw_address *address, int error)
{
    char who[128];
    bool is_known = error == UV_EADDRINUSE && lw_who_listens(address, who, sizeof who);
    fprintf(stderr, "luaweb: can't listen on %s for --metrics: %s%s%s\n", address->text,
            uv_strerror(error), is_known ? ", held by " : "", is_known ? who : "");
    return CANNOT_LISTEN;
}

/* One socket: of a name that has several addresses, the first. */
static int bind_one(struct lw_master *master, const struct lw_address *address)
{
    struct lw_bound bound = {.count = 0};
    const char *where = address->path ? address->text : address->host;
    int error = lw_bind(where, address->port, master->options->unix_mode, &bound);
    if (error)
        return error;
    for (uint32_t i = 1; i < bound.count; i++)
        close(bound.fds[i]);
    master->monitored.path = bound.path;
    return bound.fds[0];
}

/* -1: there is none. */
static int take_over(const char *fds)
{
    int fd = -1;
    const char *word = fds ? strstr(fds, WORD) : NULL;
    if (word && sscanf(word, WORD "%d", &fd) == 1)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

int lw_monitored_open(struct lw_master *master, const char *fds)
{
    struct lw_monitored *monitored = &master->monitored;
    const char *text = master->options->metrics;
    struct lw_address address;
    if (!text)
        return 0;
    if (!lw_address_read(&address, text)) {
        fprintf(stderr,
                "luaweb: --metrics %s: want host:port, [address]:port or unix:/path\n"
                "Try: luaweb --help\n",
                text);
        return USAGE;
    }
    int fd = take_over(fds);
    if (fd >= 0 && address.path)
        lw_bound_path_note(&monitored->path, address.path);
    if (fd < 0)
        fd = bind_one(master, &address);
    if (fd < 0)
        return say_failure(&address, fd);
    int port = lw_bind_port(fd);
    int error;
    monitored->monitor = lw_monitor_open(&master->loop, fd, &error);
    if (!monitored->monitor)
        return say_failure(&address, error);
    char *shown = lw_address_show(&address, port);
    lw_log(LW_LOG_INFO, "metrics and health are at %s", shown);
    free(shown);
    return 0;
}

size_t lw_monitored_hand_on(const struct lw_monitored *monitored, char *out,
                            size_t room, int as, int *fd)
{
    *fd = monitored->monitor ? lw_monitor_fd(monitored->monitor) : -1;
    out[0] = 0;
    return *fd < 0 ? 0 : (size_t)snprintf(out, room, WORD "%d", as);
}

void lw_monitored_close(struct lw_monitored *monitored, bool others_go_on)
{
    if (!monitored->monitor)
        return;
    lw_monitor_close(monitored->monitor);
    monitored->monitor = NULL;
    if (others_go_on)
        lw_bound_path_forget(&monitored->path);
    else
        lw_bound_path_remove(&monitored->path);
}
