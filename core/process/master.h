/* SPDX-License-Identifier: MIT
 *
 * The master: it runs no Lua and answers nobody.  It binds, starts workers, replaces
 * those that die, leads reloads, and hands the sockets over to a new executable.
 *
 *   listeners.c  where the server listens: binding, a socket for each slot
 *   workers.c    starting a worker, its end, and when it is started again
 *   messages.c   what workers say
 *   peers.c      how workers reach each other
 *   cover.c      heartbeats; who accepts in the place of one that can't
 *   reload.c     new generations, in two phases
 *   upgrade.c    another executable takes over
 *   stop.c       the end
 */
#ifndef LW_PROCESS_MASTER_H
#define LW_PROCESS_MASTER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "net/bind.h"
#include "process/channel.h"
#include "process/monitored.h"
#include "process/options.h"
#include "process/outside.h"
#include "process/stall.h"
#include "share/board.h"

/* An address where the server listens. */
struct lw_place {
    char *shown;                   /* as people write it, owned */
    uint32_t listen;               /* which --listen: a name has one for each address */
    struct lw_bound_path path;     /* of a unix socket */
    bool is_one_socket;            /* for all workers: it can't be doubled */
    int fds[LW_WORKERS_MOST];      /* by slot, owned; -1: none */
    int reserved[LW_WORKERS_MOST]; /* bound for it, not listening; owned; -1: none */
};

enum lw_child_state {
    LW_CHILD_NONE,    /* no process; it is started again later */
    LW_CHILD_LOADING, /* its first generation */
    LW_CHILD_READY,   /* it accepts */
    LW_CHILD_ENDING   /* it ends: told to, killed, or by itself */
};

enum lw_reload_step {
    LW_STEP_NONE,    /* not asked */
    LW_STEP_WAITED,  /* asked to load */
    LW_STEP_LOADED,  /* waits for the others */
    LW_STEP_SWITCHED /* serves the new generation */
};

/* A worker, as the master sees it.  Its place in lw_master.children is its number. */
struct lw_child {
    struct lw_master *master;
    uv_process_t process;
    uv_poll_t heard;  /* its channel */
    uv_timer_t again; /* starts it again */
    int channel;      /* owned; -1: closed */
    int wake;         /* an eventfd, see peers.c; owned, -1: none yet */
    int take;         /* where connections are given to it, */
    int give;         /* and how; owned, -1: none yet */
    uint32_t number;  /* its sockets' place in lw_place.fds */
    uint32_t slot;    /* on the board */
    enum lw_child_state state;
    enum lw_reload_step step;
    bool loads_old;      /* it was being started when the reload began */
    uint32_t generation; /* that it loads first or serves */
    uint64_t started_ms;
    uint64_t back_off_ms;
    char *failure;             /* why its first load failed, owned; NULL: it did not */
    bool is_late;              /* its heartbeat is old, or what waits for it */
    uint64_t neglects_from_ms; /* since when that waits; 0: nothing does */
    struct lw_stall stall;     /* whether it stands still for too long */
    struct lw_child *cover;    /* accepts from its sockets too; NULL: nobody */
};

/* How a reload ended: `code` 0 and what serves now, or 1 and why the old generation goes
 * on.  `text` is lent during the call. */
typedef void (*lw_reload_done)(void *context, int code, const char *text);

struct lw_reload_wish; /* one who wants to know, see reload.c */

struct lw_reload {
    uint32_t generation; /* 0: none runs */
    bool is_switching;   /* else it loads */
    uint64_t began_ms;
    uv_timer_t limit;
    bool is_wished;                /* another one, after this */
    struct lw_reload_wish *wishes; /* owned */
};

struct lw_upgrade {
    bool is_running;
    uv_process_t process; /* the new master, until it moves */
    pid_t pid;            /* its number */
    bool is_silent;       /* its channel has ended */
    uv_poll_t heard;      /* it says when it is ready */
    uv_timer_t limit;
    int channel;      /* to the new master; -1: none */
    int origin;       /* to the old master, from which we take over; -1: none */
    int last;         /* to the same when we have, until it has ended; -1: none */
    uv_poll_t ending; /* tells when that is */
};

struct lw_master {
    uv_loop_t loop;
    const struct lw_options *options;
    char **argv; /* main's */
    struct lw_board *board;
    int shared; /* the descriptor of the shared memory */
    struct lw_place *places;
    uint32_t place_count;
    struct lw_child children[LW_WORKERS_MOST];
    uint32_t worker_count;
    uint32_t slot_count;   /* sockets of each TCP place: at least a worker each */
    uint32_t first_slot;   /* on the board: another after an upgrade */
    uint32_t generation;   /* the newest that was asked for */
    uint32_t apps_workers; /* how many the app wants, 0: any */
    bool has_served;       /* a worker was ready once */
    bool is_announced;     /* all have been */
    uint32_t cores[LW_WORKERS_MOST]; /* that this process may use */
    uint32_t core_count;
    struct lw_reload reload;
    struct lw_upgrade upgrade;
    struct lw_monitored monitored;
    uv_timer_t tick;       /* looks at heartbeats */
    uv_timer_t stop_limit; /* what has not ended is killed */
    uv_signal_t signals[8];
    uint32_t stop_count; /* signals to stop */
    struct lw_outside outside;
    int exit_code;
};

/* Serves until told to end; gives the exit code.  argv is main's. */
int lw_master_run(const struct lw_options *options, char **argv);

/* listeners.c -------------------------------------------------------------------- */

/* Binds everything the options name, or takes over the sockets that `fds` names.  0, or
 * the exit code after a message. */
int lw_listeners_open(struct lw_master *master, const char *fds);

/* Opens sockets so that each TCP place has `count` slots; gives how many it has at least
 * (what failed is logged). */
uint32_t lw_listeners_widen(struct lw_master *master, uint32_t count);

/* Binds sockets for as many slots as there may be, which this user could not later. */
void lw_listeners_reserve(struct lw_master *master);

/* Closes the master's copies.  Paths of unix sockets stay when others go on there. */
void lw_listeners_close(struct lw_master *master, bool others_go_on);

/* workers.c ---------------------------------------------------------------------- */

void lw_workers_construct(struct lw_master *master);

/* Starts the process of a child that has none, and had none in this turn of the loop.
 * false: it could not be (logged). */
bool lw_worker_start(struct lw_child *child);

/* Starts it after its back-off. */
void lw_worker_start_later(struct lw_child *child);

/* Sends a message; a worker that does not read any more is killed. */
void lw_worker_tell(struct lw_child *child, const struct lw_message *message,
                    const char *text, int fd);

void lw_worker_kill(struct lw_child *child);

/* How many are in this state. */
uint32_t lw_workers_in(const struct lw_master *master, enum lw_child_state state);

/* messages.c --------------------------------------------------------------------- */

/* Hears what a child says from now on. */
int lw_messages_hear(struct lw_child *child);

/* Says that the server is up, once, when that is so. */
void lw_messages_announce(struct lw_master *master);

/* peers.c ------------------------------------------------------------------------ */

/* Tells a worker that was started how the others are reached, and them how it is. */
void lw_peers_introduce(struct lw_child *child);

/* cover.c ------------------------------------------------------------------------ */

/* Has a ready worker accept from its own sockets. */
void lw_cover_own(struct lw_child *child);

/* Sees to it that somebody accepts from each slot. */
void lw_cover_settle(struct lw_master *master);

/* Forgets a worker that ended. */
void lw_cover_forget(struct lw_child *child);

void lw_cover_watch(struct lw_master *master);

/* reload.c ----------------------------------------------------------------------- */

/* Loads a new generation everywhere, after the one that is being loaded, or as soon as
 * the loop comes around.  `done` (may be NULL) is called once. */
void lw_reload_wish(struct lw_master *master, const char *why, lw_reload_done done,
                    void *context);

/* What happened to a child. */
void lw_reload_loaded(struct lw_child *child, uint32_t generation);
void lw_reload_failed(struct lw_child *child, uint32_t generation, const char *text);
void lw_reload_switched(struct lw_child *child, uint32_t generation);
void lw_reload_died(struct lw_child *child, const char *how);

/* The server stops: whoever asked is told so. */
void lw_reload_end(struct lw_master *master);

/* upgrade.c ---------------------------------------------------------------------- */

/* First of all: under systemd the new master becomes a child of that, which looks after
 * the end of its own children only: it lets go of the process that the old one has
 * started. */
void lw_upgrade_detach(void);

/* Reads LUAWEB_UPGRADE: the shared memory, the slots that are free, and the sockets,
 * which it gives as text for lw_listeners_open.  NULL: this master is the first. */
const char *lw_upgrade_inherit(struct lw_master *master);

/* Starts the new executable. */
void lw_upgrade_begin(struct lw_master *master);

/* Tells the old master that this one serves. */
void lw_upgrade_ready(struct lw_master *master);

/* Ends the new master, unless it serves. */
void lw_upgrade_cancel(struct lw_master *master);

/* stop.c ------------------------------------------------------------------------- */

/* Drains all workers; a second call ends them at once.  grace_ms: for idle
 * connections. */
void lw_stop(struct lw_master *master, uint64_t grace_ms, bool others_go_on);

/* A worker has ended: ends the master where none is left. */
void lw_stop_check(struct lw_master *master);

/* Ends the master now, with this code. */
void lw_stop_now(struct lw_master *master, int code);

#endif
