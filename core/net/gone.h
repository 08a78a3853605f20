/* SPDX-License-Identifier: MIT
 *
 * What becomes of a request whose client is gone, and when it counts as gone: a lost
 * connection at once; one whose client has only ended its stream after a grace, while
 * the request's function waits, for such a client may still want the answer. */
#ifndef LW_NET_GONE_H
#define LW_NET_GONE_H

#include <stdbool.h>
#include <stdint.h>

struct lw_conn;
struct lw_request;

/* Whether the grace of the request that the connection serves is to run, and for how
 * long.  The time in which we wait for the client (to send content, to take the answer)
 * is not the function's. */
bool lw_gone_is_awaited(const struct lw_conn *conn, uint64_t *grace_ms);

/* The grace has passed.  Drops the connection, unless the app wants to go on. */
void lw_gone_quietly(struct lw_conn *conn);

/* The connection of a request is lost: tells Lua, as the app wants. */
void lw_gone_lost(struct lw_request *request);

#endif
