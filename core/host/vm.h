/* SPDX-License-Identifier: MIT
 *
 * A Lua state and the queue of what it is told.  C enters it once a turn, at one place
 * (on_turn); Lua then pulls events through the functions of base/abi.h. */
#ifndef LW_HOST_VM_H
#define LW_HOST_VM_H

#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"
#include "base/cells.h"
#include "host/collector.h"
#include "host/offload.h"
#include "host/watchdog.h"
#include "machine/walk.h"
#include "net/loop.h"

struct luaweb_host {
    struct lw_loop loop;
    struct lw_upcalls upcalls;   /* the owner of what Lua waits for */
    struct lw_cells cells;       /* the memory of `lua` */
    lua_State *lua;              /* the main state; never a coroutine's */
    struct luaweb_event *events; /* a ring, owned */
    uint32_t event_capacity;     /* a power of two */
    uint32_t event_first;
    uint32_t event_count;
    bool has_more; /* Lua had not done all that is ready when its last turn ended */
    uint64_t collect_again_ms; /* when Lua holds too much */
    struct lw_collector collector;
    struct lw_watchdog watchdog;
    uint32_t budget;          /* events that Lua may still pull in this turn */
    struct luaweb_app **apps; /* owned */
    uint32_t app_count;
    struct lw_offloads offloads;
    struct lw_trace trace; /* of walks, while somebody looks (loop.trace) */
    char *scratch;         /* for decoded form pairs and media types; owned */
    size_t scratch_size;
    int signal_exit_code; /* 0: a signal drains */
    uv_signal_t reopen;
    uv_timer_t drain_timer;
};

/* Opens the state and the loop.  false: the reason is on the standard error output. */
bool lw_host_construct(struct luaweb_host *host, const struct lw_limits *limits);

/* Starts the access log (see lw_access_log_open), which SIGUSR1 opens anew.  false: the
 * reason is on the standard error output. */
bool lw_host_log_access(struct luaweb_host *host, const char *where);

/* Starts the Lua half: command `argv[0]` with its arguments, as a job. */
bool lw_host_start(struct luaweb_host *host, int argc, char **argv);

/* Runs the loop until luaweb_exit; gives the exit code. */
int lw_host_run(struct luaweb_host *host);

/* false: threads still run that can't be ended, so the process must, by _exit (exit
 * would wait for them). */
bool lw_host_destruct(struct luaweb_host *host);

/* Room for `size` octets, lent until the next call. */
char *lw_host_scratch(struct luaweb_host *host, size_t size);

#endif
