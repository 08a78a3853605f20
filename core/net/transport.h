/* SPDX-License-Identifier: MIT
 *
 * A transport: a stream of octets in both directions, told about readiness by the loop.
 * What is below (a TCP or unix socket, one half of a pair in memory, later TLS) is
 * known here only.  It owns its descriptor; it never buffers, and never decides. */
#ifndef LW_NET_TRANSPORT_H
#define LW_NET_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <uv.h>

#include "base/peer.h"

struct lw_transport;

/* Called by the loop.  `status` < 0: the connection is lost; then events is 0. */
typedef void lw_transport_ready(struct lw_transport *transport, int status, int events);
typedef void lw_transport_closed(struct lw_transport *transport);

struct lw_transport {
    uv_poll_t poll;
    int fd;
    int events; /* what is asked of the loop */
    lw_transport_ready *ready;
    lw_transport_closed *closed;
};

/* Takes a non-blocking descriptor; asks for nothing yet.  0 or a libuv error, then the
 * descriptor is closed. */
int lw_transport_open(struct lw_transport *transport, uv_loop_t *loop, int fd,
                      lw_transport_ready *ready);

/* Says what to be told of.  With neither, a reset is still noticed. */
void lw_transport_want(struct lw_transport *transport, bool readable, bool writable,
                       bool disconnect);

/* The address of the other side; of no family where it is gone already. */
struct lw_peer lw_transport_peer(const struct lw_transport *transport);

/* > 0 octets read; 0 the other side has ended its sending; UV_EAGAIN; else lost. */
ssize_t lw_transport_receive(struct lw_transport *transport, void *data, size_t size);

/* >= 0 octets taken; UV_EAGAIN; else lost. */
ssize_t lw_transport_send(struct lw_transport *transport, const void *data,
                          size_t size);

/* Octets that were sent and that the other side has not taken yet. */
size_t lw_transport_unread(const struct lw_transport *transport);

/* Ends our sending; receiving goes on. */
void lw_transport_finish(struct lw_transport *transport);

/* Closes; `closed` is called when the memory is no longer used.  With `reset` the other
 * side is told that content is missing. */
void lw_transport_close(struct lw_transport *transport, bool reset,
                        lw_transport_closed *closed);

#endif
