/* SPDX-License-Identifier: MIT
 *
 * Where the server listens.  All sockets stay open in the master, so that no connection
 * is lost whatever becomes of a worker. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/require.h"
#include "process/address.h"
#include "process/master.h"
#include "process/who_listens.h"

#define USAGE         2
#define CANNOT_LISTEN 3

/* Who listens where we can't, or what lies there. */
static void say_taken(const struct lw_address *address)
{
    char who[128];
    struct stat info;
    fprintf(stderr, "luaweb: can't listen on %s: %s", address->text,
            uv_strerror(UV_EADDRINUSE));
    if (lw_who_listens(address, who, sizeof who))
        fprintf(stderr, ", held by %s\n", who);
    else if (address->path && stat(address->path, &info) == 0
             && !S_ISSOCK(info.st_mode))
        fputs(", by a file that is no socket\n", stderr);
    else
        fputc('\n', stderr);
}

static void add_place(struct lw_master *master, const struct lw_address *address,
                      int fd, struct lw_bound_path path)
{
    struct lw_place *place = &master->places[master->place_count++];
    place->shown = lw_address_show(address, lw_bind_port(fd));
    place->path = path;
    place->is_one_socket = address->path != NULL;
    for (uint32_t i = 0; i < LW_WORKERS_MOST; i++)
        place->fds[i] = -1;
    place->fds[0] = fd;
}

static int bind_place(struct lw_master *master, const struct lw_address *address)
{
    struct lw_bound_path path = {0};
    const char *where = address->path ? address->text : address->host;
    int fd = lw_bind(where, address->port, &path);
    if (fd == UV_EADDRINUSE)
        say_taken(address);
    else if (fd < 0)
        fprintf(stderr, "luaweb: can't listen on %s: %s\n", address->text,
                uv_strerror(fd));
    if (fd < 0)
        return CANNOT_LISTEN;
    add_place(master, address, fd, path);
    return 0;
}

/* Takes the sockets of a place over from the old master, which `fds` names as
 * "place.slot.fd" words; gives how many slots it has. */
static uint32_t take_place(struct lw_master *master, const struct lw_address *address,
                           const char *fds)
{
    uint32_t wanted = master->place_count;
    uint32_t place;
    uint32_t slot;
    uint32_t count = 0;
    int fd;
    for (; fds && sscanf(fds, " %u.%u.%d", &place, &slot, &fd) == 3;
         fds = strchr(fds + 1, ' ')) {
        if (place != wanted || slot >= LW_WORKERS_MOST)
            continue;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        struct lw_bound_path path = {0};
        if (count++ == 0 && address->path)
            lw_bound_path_note(&path, address->path);
        if (master->place_count == wanted)
            add_place(master, address, fd, path);
        master->places[wanted].fds[slot] = fd;
    }
    return count;
}

static int open_place(struct lw_master *master, const char *text, const char *fds)
{
    struct lw_address address;
    if (!lw_address_read(&address, text)) {
        fprintf(stderr,
                "luaweb: --listen %s: want host:port, [address]:port or unix:/path\n"
                "Try: luaweb --help\n",
                text);
        return USAGE;
    }
    uint32_t slots = fds ? take_place(master, &address, fds) : 0;
    if (slots == 0)
        return bind_place(master, &address);
    if (slots > master->slot_count)
        master->slot_count = slots;
    return 0;
}

int lw_listeners_open(struct lw_master *master, const char *fds)
{
    const struct lw_options *options = master->options;
    const char *const usual[] = {"127.0.0.1:8080"};
    const char *const *texts = options->listen_count ? options->listens : usual;
    uint32_t count = options->listen_count ? options->listen_count : 1;
    int code = 0;
    master->slot_count = 1;
    master->places = lw_alloc(count * sizeof *master->places);
    for (uint32_t i = 0; i < count && code == 0; i++)
        code = open_place(master, texts[i], fds);
    if (code)
        lw_listeners_close(master, false);
    return code;
}

/* false: a place got no socket for this slot, so there is no such slot. */
static bool open_slot(struct lw_master *master, uint32_t slot)
{
    for (uint32_t i = 0; i < master->place_count; i++) {
        struct lw_place *place = &master->places[i];
        if (place->is_one_socket || place->fds[slot] >= 0)
            continue;
        place->fds[slot] = lw_bind_beside(place->fds[0]);
        if (place->fds[slot] >= 0)
            continue;
        lw_log(LW_LOG_ERROR,
               "can't listen on %s once more, so there are %u workers: %s",
               place->shown, slot, uv_strerror(place->fds[slot]));
        return false;
    }
    return true;
}

uint32_t lw_listeners_widen(struct lw_master *master, uint32_t count)
{
    for (uint32_t slot = 0; slot < count; slot++)
        if (!open_slot(master, slot))
            count = slot;
    if (count > master->slot_count)
        master->slot_count = count;
    return count;
}

void lw_listeners_close(struct lw_master *master, bool others_go_on)
{
    bool is_unfinished_upgrade = master->upgrade.origin >= 0;
    for (uint32_t i = 0; i < master->place_count; i++) {
        struct lw_place *place = &master->places[i];
        for (uint32_t slot = 0; slot < LW_WORKERS_MOST; slot++)
            if (place->fds[slot] >= 0)
                close(place->fds[slot]);
        if (others_go_on || is_unfinished_upgrade)
            lw_bound_path_forget(&place->path);
        else
            lw_bound_path_remove(&place->path);
        free(place->shown);
    }
    free(master->places);
    master->places = NULL;
    master->place_count = 0;
}
