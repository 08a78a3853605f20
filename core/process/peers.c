/* SPDX-License-Identifier: MIT
 *
 * Workers wake each other: each slot has an eventfd, which all of them get. */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "process/master.h"

static void tell(struct lw_child *child, const struct lw_child *of)
{
    const struct lw_message message = {.kind = LW_MESSAGE_PEER, .slot = of->slot};
    lw_worker_tell(child, &message, "", of->wake);
}

/* A slot's first process: the others learn of it, too. */
static void make_known(struct lw_child *child)
{
    struct lw_master *master = child->master;
    child->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (child->wake < 0) {
        lw_log(LW_LOG_ERROR, "worker %u: what others publish won't reach it: %s",
               child->number + 1, strerror(errno));
        return;
    }
    for (uint32_t i = 0; i < LW_WORKERS_MOST; i++)
        if (&master->children[i] != child)
            tell(&master->children[i], child);
}

void lw_peers_introduce(struct lw_child *child)
{
    struct lw_master *master = child->master;
    if (child->wake < 0)
        make_known(child);
    for (uint32_t i = 0; i < LW_WORKERS_MOST; i++)
        if (master->children[i].wake >= 0)
            tell(child, &master->children[i]);
}
