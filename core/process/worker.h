/* SPDX-License-Identifier: MIT
 *
 * A process with a loop and Lua states: a worker of a master, or a command that runs
 * alone (test, explain, ...). */
#ifndef LW_PROCESS_WORKER_H
#define LW_PROCESS_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "net/loop.h"
#include "process/generation.h"
#include "process/inherit.h"
#include "process/options.h"

struct lw_worker {
    struct lw_loop loop;
    struct lw_host_calls calls;
    const struct lw_options *options;  /* held */
    struct lw_site site;               /* of all that listeners accept */
    struct lw_generation *generations; /* that are not freed yet; owned */
    struct lw_generation *serving;     /* one of them; NULL: none yet */
    uv_timer_t drain_timer;
    uv_timer_t reaper; /* while something closes */
    uv_signal_t reopen;
    uv_poll_t orders;     /* of the master */
    uv_poll_t wake;       /* of its eventfd, once it is known */
    uint64_t relieve_ms;  /* when the next reload for want of memory may be */
    int channel;          /* its end; -1: there is no master */
    int signal_exit_code; /* 0: a signal drains */
    int end_code;         /* to exit with, once all generations have ended */
    bool is_first;        /* it tells people why its app can't be loaded */
};

/* Opens the loop, and the access log where there is one.  `inherited`: from the master,
 * NULL where there is none.  false: the reason is on the standard error output. */
bool lw_worker_construct(struct lw_worker *worker, const struct lw_options *options,
                         const struct lw_inherited *inherited);

/* Loads the first generation, whose number this is, and runs until the end: the exit
 * code. */
int lw_worker_run(struct lw_worker *worker, uint32_t generation);

/* false: threads still run that can't be ended, so the process must, by _exit (exit
 * would wait for them). */
bool lw_worker_destruct(struct lw_worker *worker);

bool lw_worker_has_master(const struct lw_worker *worker);

/* A signal wants the end: the first drains, the second ends at once with `code`. */
void lw_worker_stop(struct lw_worker *worker, int code);

/* Stops accepting, ends what has begun up to the deadline (0: none), and ends. */
void lw_worker_drain(struct lw_worker *worker, uint64_t grace_ms, uint64_t deadline_ms);

/* Other workers wake this one by an eventfd, which is held. */
void lw_worker_be_woken_by(struct lw_worker *worker, int fd);

/* Opens the logs anew. */
void lw_worker_reopen(struct lw_worker *worker);

/* Loads a generation beside the one that serves. */
void lw_worker_load(struct lw_worker *worker, uint32_t number);

/* Serves with a loaded one; the last one retires. */
void lw_worker_switch(struct lw_worker *worker, uint32_t number);

/* Forgets one that is loading or loaded. */
void lw_worker_discard(struct lw_worker *worker, uint32_t number);

#endif
