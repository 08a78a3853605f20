/* SPDX-License-Identifier: MIT
 *
 * Where the server listens.  All sockets stay open in the master, so that no connection
 * is lost whatever becomes of a worker. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/require.h"
#include "process/address.h"
#include "process/master.h"
#include "process/who_listens.h"

#define USAGE         2
#define CANNOT_LISTEN 3

#define LACKS_ZONE "; say on which link, e.g. [fe80::1%eth0]:8080"

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

/* An address of --listen, and the how manieth it is. */
struct listen {
    struct lw_address address;
    uint32_t number;
};

static void add_place(struct lw_master *master, const struct listen *listen, int fd,
                      struct lw_bound_path path)
{
    const struct lw_address *address = &listen->address;
    master->places =
        lw_realloc(master->places, (master->place_count + 1) * sizeof *master->places);
    struct lw_place *place = &master->places[master->place_count++];
    place->listen = listen->number;
    place->shown = lw_address_show(address, lw_bind_port(fd));
    place->path = path;
    place->is_one_socket = address->path != NULL;
    for (uint32_t i = 0; i < LW_WORKERS_MOST; i++)
        place->fds[i] = place->reserved[i] = -1;
    place->fds[0] = fd;
}

/* Whether it is an address that each link may have. */
static bool lacks_zone(const struct lw_address *address)
{
    return address->has_brackets && strncasecmp(address->host, "fe80:", 5) == 0
           && !strchr(address->host, '%');
}

static int bind_places(struct lw_master *master, const struct listen *listen)
{
    const struct lw_address *address = &listen->address;
    struct lw_bound bound;
    const char *where = address->path ? address->text : address->host;
    int error = lw_bind(where, address->port, master->options->unix_mode, &bound);
    if (error == UV_EADDRINUSE)
        say_taken(address);
    else if (error)
        fprintf(stderr, "luaweb: can't listen on %s: %s%s\n", address->text,
                uv_strerror(error), lacks_zone(address) ? LACKS_ZONE : "");
    if (error)
        return CANNOT_LISTEN;
    for (uint32_t i = 0; i < bound.count; i++)
        add_place(master, listen, bound.fds[i], bound.path);
    return 0;
}

/* Takes the sockets of an address over from the old master, which `fds` names as
 * "listen.place.slot.fd" words, the places in order; gives how many slots it has. */
static uint32_t take_places(struct lw_master *master, const struct listen *listen,
                            const char *fds)
{
    uint32_t number;
    uint32_t place;
    uint32_t slot;
    uint32_t count = 0;
    int fd;
    for (; fds && sscanf(fds, " %u.%u.%u.%d", &number, &place, &slot, &fd) == 4;
         fds = strchr(fds + 1, ' ')) {
        if (number != listen->number || slot >= LW_WORKERS_MOST
            || place > master->place_count)
            continue;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        struct lw_bound_path path = {0};
        if (place == master->place_count) {
            if (listen->address.path)
                lw_bound_path_note(&path, listen->address.path);
            add_place(master, listen, fd, path);
        }
        master->places[place].fds[slot] = fd;
        if (slot >= count)
            count = slot + 1;
    }
    return count;
}

static int open_listen(struct lw_master *master, const char *text, uint32_t number,
                       const char *fds)
{
    struct listen listen = {.number = number};
    if (!lw_address_read(&listen.address, text)) {
        fprintf(stderr,
                "luaweb: --listen %s: want host:port, [address]:port or unix:/path\n"
                "Try: luaweb --help\n",
                text);
        return USAGE;
    }
    uint32_t slots = fds ? take_places(master, &listen, fds) : 0;
    if (slots == 0)
        return bind_places(master, &listen);
    if (slots > master->slot_count)
        master->slot_count = slots;
    return 0;
}

/* Listens on what systemd has opened.  Its paths are not ours to remove. */
static void take_passed(struct lw_master *master)
{
    const struct lw_outside *outside = &master->outside;
    for (int i = 0; i < outside->passed_count; i++) {
        struct listen listen = {.address = {.text = outside->passed[i].address},
                                .number = (uint32_t)i};
        struct lw_bound_path path = {0};
        lw_address_read(&listen.address, outside->passed[i].address);
        lw_bind_adopt(outside->passed[i].fd);
        add_place(master, &listen, outside->passed[i].fd, path);
        master->places[i].is_one_socket = true;
    }
}

int lw_listeners_open(struct lw_master *master, const char *fds)
{
    const struct lw_options *options = master->options;
    const char *const usual[] = {"127.0.0.1:8080"};
    const char *const *texts = options->listen_count ? options->listens : usual;
    uint32_t passed = (uint32_t)master->outside.passed_count;
    uint32_t count = options->listen_count ? options->listen_count : 1;
    int code = 0;
    master->slot_count = 1;
    if (passed > 0) {
        take_passed(master);
        return 0;
    }
    for (uint32_t i = 0; i < count && code == 0; i++)
        code = open_listen(master, texts[i], i, fds);
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
        place->fds[slot] = place->reserved[slot] >= 0
                               ? lw_bind_listen(place->reserved[slot])
                               : lw_bind_beside(place->fds[0]);
        place->reserved[slot] = -1;
        if (place->fds[slot] >= 0)
            continue;
        lw_log(LW_LOG_ERROR,
               "can't listen on %s once more, so there are %u workers: %s",
               place->shown, slot, uv_strerror(place->fds[slot]));
        return false;
    }
    return true;
}

void lw_listeners_reserve(struct lw_master *master)
{
    for (uint32_t i = 0; i < master->place_count; i++) {
        struct lw_place *place = &master->places[i];
        for (uint32_t slot = 1; slot < LW_WORKERS_MOST; slot++)
            if (!place->is_one_socket && place->fds[slot] < 0)
                place->reserved[slot] = lw_bind_reserve(place->fds[0]);
    }
}

static void forget_reserved(struct lw_master *master)
{
    for (uint32_t i = 0; i < master->place_count; i++)
        for (uint32_t slot = 0; slot < LW_WORKERS_MOST; slot++) {
            int *fd = &master->places[i].reserved[slot];
            if (*fd >= 0)
                close(*fd);
            *fd = -1;
        }
}

uint32_t lw_listeners_widen(struct lw_master *master, uint32_t count)
{
    for (uint32_t slot = 0; slot < count; slot++)
        if (!open_slot(master, slot))
            count = slot;
    forget_reserved(master);
    if (count > master->slot_count)
        master->slot_count = count;
    return count;
}

void lw_listeners_close(struct lw_master *master, bool others_go_on)
{
    bool is_unfinished_upgrade = master->upgrade.origin >= 0;
    forget_reserved(master);
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
