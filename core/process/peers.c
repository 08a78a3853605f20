/* SPDX-License-Identifier: MIT
 *
 * How workers reach each other: each slot has an eventfd by which its worker is woken,
 * and a pair of sockets through which it is given connections.  They are the slot's:
 * whoever is its worker next finds in them what its predecessor had left. */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/log.h"
#include "net/passing.h"
#include "process/master.h"

static int open_ends(struct lw_child *child)
{
    int ends[2];
    if (child->wake < 0)
        child->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (child->wake < 0)
        return -errno;
    int error = lw_passing_open(ends);
    if (error < 0)
        return error;
    child->take = ends[0];
    child->give = ends[1];
    return 0;
}

/* Tells a worker how another is reached, or itself. */
static void introduce(struct lw_child *child, const struct lw_child *other)
{
    struct lw_message peer = {.kind = LW_MESSAGE_PEER, .slot = other->slot};
    struct lw_message give = {.kind = LW_MESSAGE_GIVE, .slot = other->slot};
    lw_worker_tell(child, &peer, "", other->wake);
    if (other != child)
        lw_worker_tell(child, &give, "", other->give);
}

void lw_peers_introduce(struct lw_child *child)
{
    struct lw_master *master = child->master;
    bool is_new = child->give < 0;
    int error = is_new ? open_ends(child) : 0;
    if (error)
        lw_log(LW_LOG_ERROR, "worker %u can't be reached by others: %s",
               child->number + 1, strerror(-error));
    for (uint32_t i = 0; i < LW_WORKERS_MOST; i++) {
        struct lw_child *other = &master->children[i];
        if (other->give < 0)
            continue;
        introduce(child, other);
        if (is_new && other != child)
            introduce(other, child);
    }
}
