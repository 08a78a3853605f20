/* SPDX-License-Identifier: MIT
 *
 * A Lua state and the queue of what it is told.  C enters it once a turn, at one place
 * (lw_host_turn); Lua then pulls events through the functions of base/abi.h.  A worker
 * has one that serves, and for a while others beside it that load or end. */
#ifndef LW_HOST_VM_H
#define LW_HOST_VM_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"
#include "base/cells.h"
#include "host/collector.h"
#include "host/counts.h"
#include "host/offload.h"
#include "host/together.h"
#include "host/watchdog.h"
#include "machine/app.h"
#include "machine/walk.h"
#include "net/loop.h"

struct luaweb_host;

/* What a host asks of the process. */
struct lw_host_calls {
    void *context;
    /* Its command has ended, or the app could not be loaded: an exit code, and why (empty:
     * nothing is wrong). */
    void (*ended)(void *context, struct luaweb_host *host, int code, const char *text,
                  size_t size);
    /* The app is loaded and can serve; `workers`: how many it wants, 0: any.  The text
     * lists its routes. */
    void (*loaded)(void *context, struct luaweb_host *host, struct luaweb_app *app,
                   uint32_t workers, const char *routes, size_t size);
    /* A new generation is wished for; why, for the log. */
    void (*want_reload)(void *context, const char *why, size_t size);
    /* It goes on holding more than --lua-memory: told every few seconds. */
    void (*is_full)(void *context, struct luaweb_host *host);
    /* A signal is to end the process at once, with this code. */
    void (*exit_on_signal)(void *context, int code);
};

/* An app, and where connections that it alone knows of lead. */
struct lw_hosted_app {
    struct luaweb_app app; /* first: Lua holds its address */
    struct lw_site site;
};

struct luaweb_host {
    struct lw_loop *loop; /* held, with others */
    const struct lw_host_calls *calls;
    struct lw_owner owner;       /* of what Lua waits for */
    struct lw_cells cells;       /* the memory of `lua` */
    lua_State *lua;              /* the main state; never a coroutine's */
    struct luaweb_event *events; /* a ring, owned */
    uint32_t event_capacity;     /* a power of two */
    uint32_t event_first;
    uint32_t event_count;
    bool has_more;    /* Lua had not done all that is ready when its last turn ended */
    bool keeps_spans; /* it has started the tracer */
    bool is_stopping; /* Lua was told that this is its end */
    uint64_t collect_again_ms; /* when Lua holds too much */
    struct lw_collector collector;
    struct lw_host_counts counts;
    struct lw_watchdog watchdog;
    uint32_t budget;             /* events that Lua may still pull in this turn */
    struct lw_hosted_app **apps; /* owned, and each of them */
    uint32_t app_count;
    struct lw_offloads offloads;
    struct lw_together together;
    struct lw_trace trace; /* of walks, while somebody looks (loop.trace) */
    char *scratch;         /* for decoded form pairs and media types; owned */
    size_t scratch_size;
};

/* Opens the state on a loop.  false: the reason is on the standard error output. */
bool lw_host_construct(struct luaweb_host *host, struct lw_loop *loop,
                       const struct lw_host_calls *calls);

/* Starts the Lua half: command `argv[0]` with its arguments, as a job.  false: the reason
 * is on the standard error output. */
bool lw_host_start(struct luaweb_host *host, int argc, char **argv);

/* Runs what is ready; true when there is more to be done at once. */
bool lw_host_turn(struct luaweb_host *host);

/* Tells Lua that no new request will come. */
void lw_host_stopping(struct luaweb_host *host);

/* Tells Lua that all requests have ended (left_ms 0), or that they will be cut and it has
 * so long to end what it does.  It answers with calls.ended. */
void lw_host_stop(struct luaweb_host *host, uint64_t left_ms);

/* Other workers have published something: Lua is told, if it reads that. */
void lw_host_woken(struct luaweb_host *host);

/* Ends all that it has on the loop, and the Lua state; not from within a turn of its
 * own.  Work on the thread pool, and closing handles, may still use the host. */
void lw_host_close(struct luaweb_host *host);

/* Nothing uses a closed host any more: it may be freed. */
bool lw_host_is_quiet(const struct luaweb_host *host);

/* Frees what a quiet host owns. */
void lw_host_destruct(struct luaweb_host *host);

/* A new app, which lives as long as the host, and its site. */
struct luaweb_app *lw_host_add_app(struct luaweb_host *host);
const struct lw_site *lw_host_site(const struct luaweb_app *app);

/* Room for `size` octets, lent until the next call. */
char *lw_host_scratch(struct luaweb_host *host, size_t size);

#endif
