/* SPDX-License-Identifier: MIT
 *
 * What the system around a server has of it: the control socket, the pid file, systemd,
 * and the user that it runs as. */
#ifndef LW_PROCESS_OUTSIDE_H
#define LW_PROCESS_OUTSIDE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "process/control.h"
#include "process/privileges.h"
#include "process/systemd.h"

#define LW_OUTSIDE_ROOM (2 * PATH_MAX + 64)

struct lw_master;

struct lw_outside {
    struct lw_privileges privileges;
    struct lw_systemd systemd;
    struct lw_systemd_socket passed[LW_SYSTEMD_MOST];
    int passed_count;
    bool was_passed; /* to the last master, at a binary upgrade */
    struct lw_control control;
    bool has_control;   /* it is served */
    int control_fd;     /* until then, owned; -1: none */
    char *control_path; /* owned; NULL: none */
    char *pid_path;     /* owned; NULL: none */
    const char **shown; /* addresses for the status, owned */
    uint64_t began_ms;
    uint32_t reloads;
    uint32_t failed_reloads;
    uint32_t restarts; /* of workers */
};

/* For a binary upgrade: writes into `out` (room for LW_OUTSIDE_ROOM) what the next
 * master must know, behind the words for its sockets.  Gives the descriptor of the
 * control socket, which that finds as number `as`; it stays ours; -1: there is none. */
int lw_outside_hand_on(const struct lw_outside *outside, char *out, int as);

/* Reads what the last master has written. */
void lw_outside_inherit(struct lw_outside *outside, const char *text);

/* Before anything is bound: looks up --user, and takes what systemd passes, or what it
 * has passed to the last master, which `fds` names (else NULL).  0, or the exit code
 * after a message. */
int lw_outside_prepare(struct lw_master *master, const char *fds);

/* After all is bound: makes the control socket, unless the last master handed it on
 * (control_fd), and becomes the user of --user.  0, or the exit code after a
 * message. */
int lw_outside_open(struct lw_master *master);

/* Answers on the control socket from now on. */
void lw_outside_serve(struct lw_master *master);

/* What a command on the control socket does (calls.c). */
void lw_calls_fill(struct lw_control_calls *calls, struct lw_master *master);

/* The end of the process: removes the files that are still ours. */
void lw_outside_close(struct lw_master *master);

#endif
