/* SPDX-License-Identifier: MIT
 *
 * Connections that come from trusted proxies (--trusted-proxy): who is behind them, by
 * the header of the PROXY protocol for the whole connection (--proxy-protocol), and by
 * Forwarded or X-Forwarded-* for each request.  Where nobody is trusted, none of this is
 * asked for. */
#ifndef LW_NET_PROXIED_H
#define LW_NET_PROXIED_H

#include "base/peer.h"
#include "net/conn.h"

/* A connection has come from this address: finds out whether it is trusted, and what is
 * to come first.  With --proxy-protocol, one that is not trusted is dropped. */
void lw_proxied_open(struct lw_conn *conn, const struct lw_peer *peer);

/* Octets have come, or their end, where the PROXY header is awaited. */
void lw_proxied_advance(struct lw_conn *conn);

/* The PROXY header has not come in time. */
void lw_proxied_late(struct lw_conn *conn);

/* Fills in what the trusted proxy of `conn` says of a request whose facts are there.
 *   0     done; where it can't be understood, the facts stay
 *   400   it contradicts itself: the request is to be refused; *why is a static
 *         sentence */
int lw_proxied_request(struct lw_conn *conn, struct lw_request *request,
                       const char **why);

#endif
