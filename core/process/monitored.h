/* SPDX-License-Identifier: MIT
 *
 * Where --metrics has the master answer scrapes (net/monitor.h), and its part in what is
 * counted. */
#ifndef LW_PROCESS_MONITORED_H
#define LW_PROCESS_MONITORED_H

#include <stdbool.h>
#include <stddef.h>

#include "net/bind.h"
#include "net/monitor.h"

struct lw_master;

struct lw_monitored {
    struct lw_monitor *monitor; /* owned; NULL: none */
    struct lw_bound_path path;  /* of a unix socket */
};

/* Binds, or takes the socket that the last master has handed on, which `fds` names (NULL:
 * there was none), and answers from now on.  0, or the exit code after a message. */
int lw_monitored_open(struct lw_master *master, const char *fds);

/* For a binary upgrade: writes the word that names the socket, which the next master finds
 * as number `as`, into `out`; gives its size.  *fd is the socket; it stays ours; -1: there
 * is none. */
size_t lw_monitored_hand_on(const struct lw_monitored *monitored, char *out,
                            size_t room, int as, int *fd);

/* The address is free from now on, or the next master's. */
void lw_monitored_close(struct lw_monitored *monitored, bool others_go_on);

#endif
