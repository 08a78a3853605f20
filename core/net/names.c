/* SPDX-License-Identifier: MIT
 *
 * getaddrinfo(3) in a thread of the pool: it alone knows all the rules of the system,
 * and it blocks for as long as its servers take. */
#include "net/names.h"

#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/require.h"
#include "base/slice.h"
#include "net/loop.h"
#include "net/work.h"

#define MOST_ADDRESSES 32                               /* that are kept of a name */
#define ADDRESS_ROOM   (INET6_ADDRSTRLEN + IF_NAMESIZE) /* "fe80::1%eth0" and a NUL */

struct luaweb_lookup {
    struct lw_work work; /* first: its callbacks find us by it */
    struct lw_loop *loop;
    uint32_t id;
    int result;    /* enum luaweb_lookup_result */
    bool is_freed; /* while it ran */
    uint64_t when; /* there was a result */
    size_t size;   /* of the text */
    char text[MOST_ADDRESSES * ADDRESS_ROOM];
    char name[]; /* NUL-terminated */
};

static void fail(struct luaweb_lookup *lookup, const char *why)
{
    size_t size = strlen(why);
    lookup->size = size < sizeof lookup->text ? size : sizeof lookup->text;
    memcpy(lookup->text, why, lookup->size);
    lookup->result = LUAWEB_LOOKUP_FAILED;
}

/* A hosts file may name an address twice. */
static bool has_line(const struct luaweb_lookup *lookup, const char *line, size_t size)
{
    for (size_t at = 0; at < lookup->size;) {
        const char *end = memchr(lookup->text + at, '\n', lookup->size - at);
        size_t length = (size_t)(end - lookup->text) + 1 - at;
        if (length == size && memcmp(lookup->text + at, line, size) == 0)
            return true;
        at += length;
    }
    return false;
}

static void add(struct luaweb_lookup *lookup, const struct addrinfo *info)
{
    char line[ADDRESS_ROOM + 1];
    if (info->ai_family != AF_INET && info->ai_family != AF_INET6)
        return;
    if (getnameinfo(info->ai_addr, info->ai_addrlen, line, ADDRESS_ROOM, NULL, 0,
                    NI_NUMERICHOST)
        != 0)
        return;
    size_t size = strlen(line);
    line[size++] = '\n';
    if (sizeof lookup->text - lookup->size < size || has_line(lookup, line, size))
        return;
    memcpy(lookup->text + lookup->size, line, size);
    lookup->size += size;
}

/* In a thread of the pool. */
static void run(struct lw_work *work)
{
    struct luaweb_lookup *lookup = (struct luaweb_lookup *)work;
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC,
        .ai_socktype = SOCK_STREAM,
    };
    struct addrinfo *list = NULL;
    int error = getaddrinfo(lookup->name, NULL, &hints, &list);
    if (error) {
        fail(lookup, error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
        return;
    }
    for (const struct addrinfo *info = list; info; info = info->ai_next)
        add(lookup, info);
    freeaddrinfo(list);
    lookup->result = LUAWEB_LOOKUP_DONE;
    if (lookup->size == 0)
        fail(lookup, "it has no address");
}

static void destroy(struct luaweb_lookup *lookup)
{
    lw_loop_drop_id(lookup->loop, lookup->id);
    free(lookup);
}

static void done(struct lw_work *work)
{
    struct luaweb_lookup *lookup = (struct luaweb_lookup *)work;
    lookup->when = uv_hrtime();
    if (lookup->is_freed)
        destroy(lookup);
    else
        lw_loop_wake(lookup->loop, lookup->id);
}

struct luaweb_lookup *lw_lookup_begin(struct lw_loop *loop, struct lw_owner *owner,
                                      const char *name)
{
    size_t size = strlen(name) + 1;
    struct luaweb_lookup *lookup = lw_alloc(sizeof *lookup + size);
    memset(lookup, 0, sizeof *lookup);
    lookup->work.run = run;
    lookup->work.done = done;
    lookup->loop = loop;
    lookup->result = LUAWEB_LOOKUP_WAIT;
    memcpy(lookup->name, name, size);
    lookup->id = lw_loop_add_id(loop, owner, LW_ID_LOOKUP, lookup);
    if (lw_work_start(loop, &lookup->work, LW_WORK_NAME))
        return lookup;
    destroy(lookup);
    return NULL;
}

uint32_t lw_lookup_id(const struct luaweb_lookup *lookup)
{
    return lookup->id;
}

int lw_lookup_result(const struct luaweb_lookup *lookup, struct luaweb_slice *text,
                     double *when)
{
    if (lookup->when == 0)
        return LUAWEB_LOOKUP_WAIT;
    *text = lw_slice(lookup->text, lookup->size);
    *when = (double)lookup->when / 1e9;
    return lookup->result;
}

bool lw_lookup_cancel(struct luaweb_lookup *lookup)
{
    return lw_work_cancel(&lookup->work);
}

void lw_lookup_free(struct luaweb_lookup *lookup)
{
    if (lookup->work.state == LW_WORK_RUNNING) {
        lookup->is_freed = true;
        return;
    }
    lw_work_cancel(&lookup->work);
    destroy(lookup);
}
