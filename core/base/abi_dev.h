/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua while an app is developed (`luaweb dev`): what is
 * watched, what was seen, how the newest generation fares.  Elsewhere these functions
 * find nothing and do nothing.  For the rules, see abi.h. */

#ifndef LW_BASE_ABI_DEV_H
#define LW_BASE_ABI_DEV_H

#include "base/abi_explain.h"

/* What of a path is watched. */
enum luaweb_watch {
    LUAWEB_WATCH_FILE,    /* it is a file, which need not be there */
    LUAWEB_WATCH_SOURCES, /* of a folder and those below: what apps are written in */
    LUAWEB_WATCH_FOLDER   /* all in a folder and those below */
};

/* A request that was remembered. */
struct luaweb_seen {
    double id;
    struct luaweb_slice head; /* its octets, maybe cut off; lent for this turn */
    double time_ms;           /* since 1970, when it began */
    double duration_us;
    double octets;  /* of the content of its answer */
    int32_t status; /* 0: it runs */
    bool is_ours;   /* this generation has answered it: its walk can be read */
};

enum luaweb_dev_room {
    LUAWEB_DEV_SEEN = 100,
    LUAWEB_DEV_TOKEN = 32 /* octets, with the NUL */
};

/* Has the app loaded anew when this path changes (enum luaweb_watch).  0, or a negative
 * libuv error: the path is too long, or there are too many. */
int luaweb_dev_watch(struct luaweb_host *host, const char *path, int what);

/* Why the newest generation has not loaded: empty where it has; lent for this turn.
 * Gives a number that changes with that. */
uint32_t luaweb_dev_failure(struct luaweb_host *host, struct luaweb_slice *why);

/* Whether a generation of the app serves: one that does not load is not needed then. */
bool luaweb_dev_serves(struct luaweb_host *host);

/* What is loaded is not the app, but what shows why that does not load. */
void luaweb_dev_broken(struct luaweb_host *host);

/* Writes what names the generation that serves, unlike any other: at most
 * LUAWEB_DEV_TOKEN octets, with the NUL. */
void luaweb_dev_token(struct luaweb_host *host, char token[32]);

/* The requests that were remembered, newest first; the list has room for
 * LUAWEB_DEV_SEEN.  Gives their number. */
uint32_t luaweb_dev_seen(struct luaweb_host *host, struct luaweb_seen *list);

/* The answers of the walk of such a request; see luaweb_explain_read.  -1: it is not
 * known, or not this generation's. */
int luaweb_dev_walk(struct luaweb_host *host, double id, struct luaweb_traced *answers,
                    uint32_t capacity, struct luaweb_ending *ending);

#endif
