/* SPDX-License-Identifier: MIT
 *
 * Answers those who watch the server, at an address of their own: GET and HEAD of
 * /metrics (Prometheus text) and /health (JSON; 200, or 503 where nobody is ready).  It
 * reads shared memory only, so that it runs in the master, where nothing that an app
 * does can hold it up.  One request a connection. */
#ifndef LW_NET_MONITOR_H
#define LW_NET_MONITOR_H

#include <uv.h>

#define LW_MONITOR_MOST 32    /* connections at a time; another one ends the oldest */
#define LW_MONITOR_HEAD 8192  /* octets of a request's head */
#define LW_MONITOR_MS   10000 /* that a connection may last */

struct lw_monitor;

/* Answers on a listening socket, which it owns from now on; the caller owns the monitor.
 * NULL: the loop can't watch the socket, *error tells why (libuv), and it is closed. */
struct lw_monitor *lw_monitor_open(uv_loop_t *loop, int fd, int *error);

/* Its socket, lent. */
int lw_monitor_fd(const struct lw_monitor *monitor);

/* Closes all; the memory is freed by the loop, once it runs. */
void lw_monitor_close(struct lw_monitor *monitor);

#endif
