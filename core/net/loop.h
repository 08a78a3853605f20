/* SPDX-License-Identifier: MIT
 *
 * The loop of one worker: libuv, the pools that connections share, and the order of a
 * turn (octets in, Lua once, octets out).  Calls go down to it; it tells hosts through
 * struct lw_owner and does not know that Lua exists. */
#ifndef LW_NET_LOOP_H
#define LW_NET_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/buffer.h"
#include "base/limits.h"
#include "net/deadline.h"
#include "net/owner.h"
#include "net/tally.h"
#include "net/work.h"

struct lw_conn;
struct lw_dev;
struct lw_listener;
struct lw_peers;
struct lw_networks;
struct lw_request;
struct lw_trace;
struct lw_tracer;

/* What the loop asks of who runs it. */
struct lw_loop_calls {
    void *context;
    /* Runs what is ready in all hosts; true when there is more to be done at once. */
    bool (*turn)(void *context);
    /* Draining is done: nothing is open any more. */
    void (*drained)(void *context);
};

/* Things that Lua waits for or names by a number.  A number stays with its kind for
 * ever: a wake that comes late may find another socket or request, which looks again,
 * but never a timer, which would end too early. */
enum lw_id_kind {
    LW_ID_REQUEST,
    LW_ID_TIMER,
    LW_ID_SOCKET,
    LW_ID_HASH,
    LW_ID_OFFLOAD,
    LW_ID_LOOKUP,
    LW_ID_TRUST,
    LW_ID_BUS,
    LW_ID_KINDS
};

struct lw_id {
    enum lw_id_kind kind;
    uint32_t next_free;
    void *object; /* NULL: free */
    struct lw_owner *owner;
};

struct lw_loop {
    uv_loop_t uv;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_timer_t grace;
    uv_timer_t accept_again; /* no descriptor was left: tried again */
    uv_idle_t again;         /* keeps the next poll from waiting */
    uv_timer_t last;         /* ends the wait for the thread pool */
    struct lw_limits limits;
    struct lw_loop_calls calls;
    const struct lw_networks *trusted; /* proxies; borrowed; NULL: nobody is */
    bool demands_proxy_header;         /* in front of what comes from them */
    uint32_t unix_mode;                /* of unix sockets; 0: the usual one */
    uint32_t complaint_count;          /* on proxies that were not said */
    uint64_t complaint_again_ms;       /* when one may be said again */
    struct lw_access_log *access_log;  /* owned; NULL: none */
    struct lw_trace *trace;   /* of the walks, for the host; NULL: nobody looks */
    struct lw_tracer *tracer; /* owned; NULL: nobody has asked for a trace */
    struct lw_dev *dev;       /* owned; NULL but while an app is developed */
    char id_prefix[8]; /* of the ids of requests: differs from process to process */
    struct lw_blocks blocks;
    struct lw_deadlines deadlines;
    struct lw_works works;      /* on the thread pool */
    struct luaweb_slice health; /* the path of --health, held; empty: none */
    uint32_t health_key;        /* under which it is counted */
    struct lw_tally tally;      /* what is counted */
    struct lw_conn *conns;      /* all that are open */
    struct lw_conn *free_conns; /* pooled */
    struct lw_conn *dirty;      /* touched in this turn */
    struct lw_listener *listeners;
    uint32_t shed_count;    /* connections that should find another worker */
    struct lw_peers *peers; /* who can be given connections, owned; NULL: nobody */
    struct lw_request *free_requests;
    struct lw_timer *free_timers;
    uint32_t timer_count; /* that have a number */
    struct lw_id *ids;
    uint32_t id_count;
    uint32_t id_capacity;
    uint32_t free_ids[LW_ID_KINDS]; /* first of each kind, or LW_NO_ID */
    uint32_t conn_count;
    uint32_t orphan_count; /* requests that run although their clients have gone */
    uint64_t request_count;
    uint64_t turn_began_ms; /* uv_now then */
    uint64_t longest_turn_ms;
    uint64_t said_overflow_ms; /* when that connections are refused; 0: never */
    uint64_t said_full_ms;     /* when that no descriptor was left; 0: never */
    int64_t date_second;
    char date[29];
    int exit_code;
    bool is_draining;
    bool is_accepting_paused; /* no descriptor was left */
    bool closes_idle;         /* the grace of a drain is over */
    bool is_drained;          /* nothing is open any more, and calls.drained knows */
    uint32_t queued;          /* requests that the host was told of in this turn */
    bool keeps_spans;         /* of requests that end (tracer.h) */
    bool has_work;            /* the host was told of something in this turn */
};

#define LW_NO_ID UINT32_MAX

/* 0 or a libuv error. */
int lw_loop_construct(struct lw_loop *loop, const struct lw_limits *limits,
                      const struct lw_loop_calls *calls);

/* Answers at this path, which is held, whether the worker is ready (net/ready.h). */
void lw_loop_show_health(struct lw_loop *loop, const char *path);

/* Runs until lw_loop_exit; gives the exit code. */
int lw_loop_run(struct lw_loop *loop);

/* Ends the timers, sockets, connections and requests of an owner, whom nothing wakes any
 * more; those of others go on.  Its hashes are freed by itself. */
void lw_loop_close_owner(struct lw_loop *loop, struct lw_owner *owner);

/* Closes what is open, after all owners; requests can still be looked at.  false:
 * something still runs on the thread pool (it was waited for, LW_LAST_WORK_MS), so
 * neither what it uses nor the loop may be freed, and the process must end by _exit. */
bool lw_loop_close(struct lw_loop *loop);

/* Frees everything. */
void lw_loop_destruct(struct lw_loop *loop);

/* Ends lw_loop_run after this turn. */
void lw_loop_exit(struct lw_loop *loop, int code);

/* Stops listening; every answer from now on closes its connection, and so does, after a
 * grace, rest: a request that was on its way is still answered.  calls.drained tells
 * when nothing is open any more. */
void lw_loop_drain(struct lw_loop *loop, uint64_t grace_ms);

/* Calls calls.drained, if a drain has come to its end. */
void lw_loop_check_drained(struct lw_loop *loop);

/* Gives a number to an object, whose wakes go to its owner, and takes it back. */
uint32_t lw_loop_add_id(struct lw_loop *loop, struct lw_owner *owner,
                        enum lw_id_kind kind, void *object);
void lw_loop_drop_id(struct lw_loop *loop, uint32_t id);

/* The object with this number, or NULL when it is of another kind. */
void *lw_loop_find_id(const struct lw_loop *loop, enum lw_id_kind kind, uint32_t id);

/* The object with this number if it is of this owner, else NULL. */
void *lw_loop_find_own(const struct lw_loop *loop, const struct lw_owner *owner,
                       enum lw_id_kind kind, uint32_t id);

/* Runs a turn in the middle of polling where enough requests wait: their buffers are
 * still in the cache, and their clients go on while others are read. */
void lw_loop_relieve(struct lw_loop *loop);

/* The longest turn is that of the turns from now on. */
void lw_loop_forget_turns(struct lw_loop *loop);

/* Tells the host. */
void lw_loop_request(struct lw_loop *loop, struct lw_request *request,
                     uint32_t function);
void lw_loop_wake(struct lw_loop *loop, uint32_t id);
void lw_loop_gone(struct lw_loop *loop, struct lw_request *request, uint32_t how);

/* A connection has come (1) or gone (-1); the board shows how many there are. */
void lw_loop_count_conn(struct lw_loop *loop, int change);

/* A request has lost its client (1), or such a one has ended (-1). */
void lw_loop_count_orphan(struct lw_loop *loop, int change);

/* Milliseconds since 1970. */
int64_t lw_loop_time_ms(void);

/* The Date field of now: 29 octets, lent until the next second. */
const char *lw_loop_date(struct lw_loop *loop);

/* Whether what others can bring about as often as they like may be logged now: it is once
 * in a while.  `said_ms` is when it was last, 0: never. */
bool lw_loop_may_say(const struct lw_loop *loop, uint64_t *said_ms);

#endif
