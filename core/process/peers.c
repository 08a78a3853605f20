/* SPDX-License-Identifier: MIT
 *
 * How workers reach each other: each slot has an eventfd by which its worker is woken,
 * and a pair of sockets through which it is given connections.  They are the slot's:
 * whoever is its worker next finds in them what its predecessor had left. */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "base/log.h"
#include "process/master.h"

static bool open_ends(struct lw_child *child)
{
    int ends[2];
    int type = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;
    child->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (child->wake < 0 || socketpair(AF_UNIX, type, 0, ends) != 0)
        return false;
    child->take = ends[0];
    child->give = ends[1];
    return true;
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
    bool is_new = child->wake < 0;
    if (is_new && !open_ends(child))
        lw_log(LW_LOG_ERROR, "worker %u can't be reached by others: %s",
               child->number + 1, strerror(errno));
    for (uint32_t i = 0; i < LW_WORKERS_MOST; i++) {
        struct lw_child *other = &master->children[i];
        if (other->give < 0)
            continue;
        introduce(child, other);
        if (is_new && other != child)
            introduce(other, child);
    }
}
