/* SPDX-License-Identifier: MIT
 *
 * `luaweb reload`, `luaweb stop` and `luaweb status`: a running server is told or asked
 * over its control socket (process/control.h).  No Lua, no loop: this process waits. */
#ifndef LW_PROCESS_REMOTE_H
#define LW_PROCESS_REMOTE_H

#include <stdbool.h>

struct lw_options;

struct lw_remote {
    const char *command; /* "reload", "stop" or "status" */
    const char *control; /* --control; NULL: it is looked for */
    const char *listen;  /* --listen: the server of this address; NULL: any */
    bool is_json;        /* status */
    bool is_at_once;     /* stop */
    double seconds;      /* to wait for the answer, and for the end; 0: no limit */
};

/* Whether this command is one of them. */
bool lw_remote_is(const char *command);

/* Does what the command line says, and prints what people should know.  Gives the exit
 * code: 0 done; the server's own where it failed (1: the app does not load); 2 wrong
 * usage, or several servers run and none was named; 5 no server answers. */
int lw_remote_run(const struct lw_options *options);

#endif
