/* SPDX-License-Identifier: MIT
 *
 * The signals that a process with a Lua state gets: SIGTERM and SIGINT end it, SIGUSR1
 * opens its logs anew. */
#ifndef LW_PROCESS_SIGNALS_H
#define LW_PROCESS_SIGNALS_H

struct lw_worker;

/* Tells the worker of them from now on (lw_worker_stop, lw_worker_reopen).  A second stop
 * signal ends the process even where Lua holds the loop.  Worker processes leave SIGINT
 * to the master, since a terminal sends it to all. */
void lw_signals_watch(struct lw_worker *worker);

/* A signal ends the process, with this code, and soon, even where Lua holds the loop:
 * there is nobody to wait for. */
void lw_signals_end_at_once(int code);

/* Nobody is told any more. */
void lw_signals_forget(void);

#endif
