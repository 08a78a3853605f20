/* SPDX-License-Identifier: MIT
 *
 * The access log of a worker: lines are collected in memory and written by the thread
 * pool, so that no disk holds up the loop.  What does not fit is dropped and counted,
 * never waited for. */
#ifndef LW_NET_ACCESS_LOG_H
#define LW_NET_ACCESS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "http/access.h"

struct lw_access_log;
struct lw_loop;

/* Opens "path", "combined:path", "json:path", or "terminal:path", for the eye: without
 * delay, and with colours where that is a terminal and NO_COLOR is not set (or empty).
 * "-" as path is the standard output.
 * NULL with a static sentence in *why. */
struct lw_access_log *lw_access_log_open(struct lw_loop *loop, const char *where,
                                         const char **why);

/* The path within such a text: "-", or that of a file; lent by it. */
const char *lw_access_log_path(const char *where);

/* Adds a line. */
void lw_access_log_add(struct lw_access_log *log, const struct lw_access *access);

/* Opens the path anew, after what was collected is written to the old one. */
void lw_access_log_reopen(struct lw_access_log *log);

/* Writes what is left and frees; in front of the end of the loop, which may run. */
void lw_access_log_close(struct lw_access_log *log);

#endif
