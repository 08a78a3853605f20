/* SPDX-License-Identifier: MIT
 *
 * A generation: one load of the app, in a Lua state of its own.  A worker serves with one
 * and loads the next beside it; the last one ends what it has begun.
 *
 *   LOADING  -> LOADED    the app can serve
 *   LOADED   -> SERVING   new requests are for it
 *   any      -> RETIRING  no new requests; ends what it has, up to a deadline
 *   any      -> ENDED     Lua has nothing left to do, or may not do more
 *   ENDED    -> CLOSED    the Lua state is closed; work on the pool may still end */
#ifndef LW_PROCESS_GENERATION_H
#define LW_PROCESS_GENERATION_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "host/vm.h"

enum lw_generation_state {
    LW_GENERATION_LOADING,
    LW_GENERATION_LOADED,
    LW_GENERATION_SERVING,
    LW_GENERATION_RETIRING,
    LW_GENERATION_ENDED,
    LW_GENERATION_CLOSED
};

struct lw_generation {
    struct luaweb_host host; /* first: a host is known by it */
    uint32_t number;         /* from 1, the same in all workers */
    enum lw_generation_state state;
    struct luaweb_app *app; /* once it is loaded; the host's */
    uv_timer_t late;        /* of its end */
    bool is_late;           /* the deadline has passed once */
    bool is_told;           /* that it has no request any more */
    bool is_late_closed;
    struct lw_generation *next;
};

/* Begins to load, with the words of the command line.  ENDED, or NULL: it could not, and
 * the reason is on the standard error output. */
struct lw_generation *lw_generation_load(struct lw_loop *loop,
                                         const struct lw_host_calls *calls,
                                         uint32_t number, int argc, char **argv);

/* No new requests are for it: it ends what it has begun. */
void lw_generation_retire(struct lw_generation *generation);

/* Its deadline is now. */
void lw_generation_hurry(struct lw_generation *generation);

/* What became of it in a turn: a retiring one without requests is told so.  Closes an
 * ended one.  true: it can be freed. */
bool lw_generation_settle(struct lw_generation *generation);

/* Closes it where that was not done yet, at the end of the process. */
void lw_generation_close(struct lw_generation *generation);

/* Frees it; it is closed, and nothing uses it any more. */
void lw_generation_free(struct lw_generation *generation);

#endif
