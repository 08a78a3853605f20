/* SPDX-License-Identifier: MIT
 *
 * The content of the request that a connection serves: where it ends, how much of it
 * was taken, and what is wrong with it.  Pieces lie in the connection's read buffer. */
#ifndef LW_NET_CONTENT_H
#define LW_NET_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"
#include "http/chunked.h"
#include "http/head.h"

struct lw_conn;

struct lw_content {
    enum lw_framing framing;
    uint64_t left;  /* LW_FRAMING_LENGTH: octets still to come */
    uint64_t taken; /* octets so far */
    uint64_t limit; /* more are a 413 */
    struct lw_chunked chunked;
    bool is_done;
    bool expects_continue;  /* the client waits for a 100 that was not sent yet */
    uint64_t wait_began_ms; /* the client owes us octets since; 0: it does not */
    uint64_t waited_ms;     /* so far */
    int error;              /* a status; sticky: the connection is out of step */
};

void lw_content_begin(struct lw_content *content, const struct lw_head *head,
                      uint64_t limit);

/* Tells a client that waits for it to send its content (100), once, and unless some of
 * it is here (RFC 9110 §10.1.1). */
void lw_content_welcome(struct lw_conn *conn);

/* The next piece, lent until the read buffer changes: enum luaweb_body_result (never
 * GONE) or a status. */
int lw_content_next(struct lw_conn *conn, struct luaweb_slice *piece);

/* Octets have come while the client owed some: did they come fast enough?  If not, the
 * content's error becomes 408. */
void lw_content_arrived(struct lw_conn *conn);

/* Whether what is unread can be swallowed, so that the connection stays in step. */
bool lw_content_is_short(const struct lw_content *content);

#endif
