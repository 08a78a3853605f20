/* SPDX-License-Identifier: MIT
 *
 * From a whole head to its answer, or to the function that gives it. */
#ifndef LW_NET_SERVE_H
#define LW_NET_SERVE_H

#include "net/conn.h"

/* Answers what cannot be served as HTTP, and closes.  `why` is a static sentence for
 * the client. */
void lw_serve_refuse(struct lw_conn *conn, int status, const char *why);

/* Tells a client that there are too many connections; where even such are too many, the
 * connection just ends. */
void lw_serve_overflow(struct lw_conn *conn);

/* The handler of the request has taken too long: its work is cancelled, and a client
 * that is still there gets a 503, or the end of the answer that has begun. */
struct lw_request;
void lw_serve_late(struct lw_request *request);

/* The operations of a request that came by HTTP/1 (respond.c). */
struct lw_request_ops;
extern const struct lw_request_ops lw_http1_ops;

#endif
