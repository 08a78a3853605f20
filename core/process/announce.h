/* SPDX-License-Identifier: MIT
 *
 * What the master tells the system around it: service managers, pid files. */
#ifndef LW_PROCESS_ANNOUNCE_H
#define LW_PROCESS_ANNOUNCE_H

#include <stdbool.h>

struct lw_master;

/* All workers accept, for the first time. */
void lw_announce_ready(struct lw_master *master);

/* A reload begins; it has ended, well or not. */
void lw_announce_reloading(struct lw_master *master);
void lw_announce_reloaded(struct lw_master *master, bool is_done);

/* A new master has taken over: it is the server from now on, this one only ends. */
void lw_announce_successor(struct lw_master *master, int pid);

/* The stop begins. */
void lw_announce_stopping(struct lw_master *master);

#endif
