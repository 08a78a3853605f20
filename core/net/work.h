/* SPDX-License-Identifier: MIT
 *
 * Work on libuv's thread pool, in kinds: of each, so much runs at once, and so much
 * more stands in line, in order.  The pool has a thread for all of it, so that slow
 * work of one kind starves no other.  What uses it embeds struct lw_work. */
#ifndef LW_NET_WORK_H
#define LW_NET_WORK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct lw_loop;

enum lw_work_kind {
    LW_WORK_HASH,    /* of passwords: 64 MiB each */
    LW_WORK_NAME,    /* looked up */
    LW_WORK_OFFLOAD, /* functions of the app: no more than there are cores */
    LW_WORK_FILE,    /* opened, read */
    LW_WORK_KINDS
};

enum lw_work_state {
    LW_WORK_IDLE, /* not begun, or over: it may be started again */
    LW_WORK_IN_LINE,
    LW_WORK_RUNNING
};

/* The user owns it, fills in `run` and `done`, zeroes the rest, and keeps it until
 * `done` was called or lw_work_cancel has taken it out of line. */
struct lw_work {
    void (*run)(struct lw_work *work);  /* in a thread of the pool */
    void (*done)(struct lw_work *work); /* in that of the loop; may free the work */
    /* What follows belongs to work.c. */
    uv_work_t uv;
    struct lw_loop *loop;
    struct lw_work *next; /* in line */
    enum lw_work_kind kind;
    enum lw_work_state state;
};

/* The work of one kind. */
struct lw_work_line {
    struct lw_work *first; /* of what stands in line */
    struct lw_work **end;  /* where the next one goes */
    uint32_t at_once;      /* how much may run */
    uint32_t running;
    uint32_t in_line;
    uint64_t done;
    uint64_t refused;
};

/* All work of a loop. */
struct lw_works {
    struct lw_work_line lines[LW_WORK_KINDS];
    bool is_closed;
};

/* How many threads the pool must have: one for each that may run at once, and one for
 * what others (the access log) give to libuv themselves. */
uint32_t lw_work_threads(void);

/* Sets the size of libuv's pool (UV_THREADPOOL_SIZE) unless whoever started the process
 * has: then too small a one is warned of.  To be called before anything is given to the
 * pool. */
void lw_work_size_pool(void);

/* To be called around whatever may make threads: they inherit that the signals which
 * look into the loop's thread (host/watchdog.h) are blocked, and so never get them.
 * `before` is the caller's, from the first call to the second. */
void lw_work_shield(sigset_t *before);
void lw_work_unshield(const sigset_t *before);

void lw_works_construct(struct lw_works *works);

/* Nothing begins any more: what runs is waited for by libuv's loop, and what stands in
 * line stays there until its owner takes it out. */
void lw_works_close(struct lw_works *works);

/* Starts work, now or when its turn comes.  false: the line is full, and nothing was
 * done. */
bool lw_work_start(struct lw_loop *loop, struct lw_work *work, enum lw_work_kind kind);

/* Takes work out of line: neither of its functions will be called, and it may be freed.
 * false: it runs (`done` will be called), or is not under way at all. */
bool lw_work_cancel(struct lw_work *work);

#endif
