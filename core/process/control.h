/* SPDX-License-Identifier: MIT
 *
 * The control socket: how a running server is told to reload or to stop, and asked how
 * it is.  A unix socket (mode 0600) on which one line is a command:
 *
 *     reload         loads the app anew; answered when all workers serve it, or none
 *     stop           lets requests end, then ends; stop now: at once
 *     status         for people; status json: one line of JSON
 *     version
 *     yield          for a server that starts: one that stops leaves the path to it
 *
 * The answer is lines, then `ok` or `error <exit code> <text>`, in which \n stands for
 * a line's end and \\ for \.  Several commands may follow each other on one connection.
 * Only root and the user of the server are heard. */
#ifndef LW_PROCESS_CONTROL_H
#define LW_PROCESS_CONTROL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "process/status.h"

#define LW_CONTROL_CLIENTS 16    /* more are told that it is busy */
#define LW_CONTROL_LINE    256   /* octets of a command */
#define LW_CONTROL_TEXT    65536 /* octets of a message; the rest is cut */
#define LW_CONTROL_WAIT_MS 5000  /* for a command to come, or an answer to be read */

/* What the master does when it is told to.  All are called from the loop. */
struct lw_control_calls {
    void *context;
    /* Starts a reload, or joins one that runs; answers it once with
     * lw_control_answer(number), at once or later. */
    void (*reload)(void *context, uint32_t number);
    void (*stop)(void *context, bool is_at_once);
    /* Fills in how it is; what it points to is lent until the turn ends. */
    void (*status)(void *context, struct lw_status *status);
};

struct lw_control {
    uv_pipe_t listener;
    struct lw_control_calls calls;
    struct lw_control_client *clients; /* owned */
    uint32_t client_count;
    uint32_t last_number;
    bool is_ending; /* the path may be left to another */
    char *path;     /* owned */
    dev_t device;
    ino_t inode;
};

/* Makes the socket at `path` and listens; a leftover that nobody listens on is
 * replaced, and that of a server that stops, which is asked to leave it (this waits for
 * a second at most).  The file belongs to `owner` unless that is (uid_t)-1.  Gives the
 * descriptor, or a negative errno; -EADDRINUSE: another server runs there, *holder is
 * its process, or 0. */
int lw_control_bind(const char *path, uid_t owner, pid_t *holder);

/* Serves on such a descriptor, which it takes, or on one that another process has bound
 * at `path` (at a binary upgrade).  0 or a libuv error: the descriptor is closed. */
int lw_control_open(struct lw_control *control, uv_loop_t *loop, int fd,
                    const char *path, const struct lw_control_calls *calls);

/* Answers command `number`: code 0 with a text that may be empty, or an exit code with
 * what is wrong.  Nothing happens when that client has gone. */
void lw_control_answer(struct lw_control *control, uint32_t number, int code,
                       const char *text);

/* The listening descriptor, for another process to go on with; it stays ours. */
int lw_control_descriptor(const struct lw_control *control);

/* The server stops: another one that starts may have the path. */
void lw_control_end(struct lw_control *control);

/* Stops; who still waits is told so.  Removes the file, unless another process goes on
 * with it or somebody put a file of theirs in its place.  The memory of `control` is
 * needed until the loop has run once more. */
void lw_control_close(struct lw_control *control, bool is_handed_on);

#endif
