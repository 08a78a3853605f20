/* SPDX-License-Identifier: MIT
 *
 * From a whole head to its answer, or to the function that gives it. */
#ifndef LW_NET_SERVE_H
#define LW_NET_SERVE_H

#include "net/conn.h"

/* Answers what cannot be served as HTTP, and closes.  `why` is a static sentence for
 * the client. */
void lw_serve_refuse(struct lw_conn *conn, int status, const char *why);

/* The operations of a request that came by HTTP/1 (respond.c). */
struct lw_request_ops;
extern const struct lw_request_ops lw_http1_ops;

#endif
