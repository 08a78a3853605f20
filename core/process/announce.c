/* SPDX-License-Identifier: MIT
 *
 * Nobody is told yet. */
#include "process/announce.h"

void lw_announce_ready(struct lw_master *master)
{
    (void)master;
}

void lw_announce_reloading(struct lw_master *master)
{
    (void)master;
}

void lw_announce_reloaded(struct lw_master *master)
{
    (void)master;
}

void lw_announce_successor(struct lw_master *master, int pid)
{
    (void)master;
    (void)pid;
}

void lw_announce_stopping(struct lw_master *master)
{
    (void)master;
}
