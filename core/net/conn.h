/* SPDX-License-Identifier: MIT
 *
 * A connection: octets in, one request at a time, octets out.  It owns its transport
 * and buffers; it borrows the request that it serves.
 *
 *   OPENING   -> READING   the header of its proxy is read (with --proxy-protocol)
 *   READING   -> SERVING   a head is whole and a function is asked
 *   READING   -> READING   C has answered alone
 *   SERVING   -> READING   answered, content read
 *   SERVING   -> DRAINING  answered, some content still to come: it is swallowed
 *   DRAINING  -> READING   swallowed
 *   any       -> CLOSING   the last answer is written; then shut down, swallow, close
 *   any       -> CLOSED    the transport is gone
 *
 * Invariant: the read buffer is not touched while a request's head still lies in it
 * (lw_request_keep comes first).  RFC 9112 §9. */
#ifndef LW_NET_CONN_H
#define LW_NET_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/peer.h"
#include "http/memo.h"
#include "machine/walk.h"
#include "net/content.h"
#include "net/deadline.h"
#include "net/transport.h"

struct lw_loop;
struct lw_owner;
struct lw_site;
struct lw_repeat;
struct lw_request;

enum lw_conn_state {
    LW_CONN_READING,
    LW_CONN_SERVING,
    LW_CONN_DRAINING,
    LW_CONN_CLOSING,
    LW_CONN_CLOSED,
    LW_CONN_OPENING
};

/* What negotiation has chosen for the field lines in the connection's memo. */
struct lw_choice {
    const struct lw_machine *machine; /* whose offers they were; NULL: none */
    int32_t accepted[LW_DIMENSIONS];  /* as in struct lw_walk */
};

struct lw_conn {
    struct lw_transport transport; /* first: the transport's callbacks find us by it */
    struct lw_deadline deadline;
    struct lw_loop *loop;
    const struct lw_site *site; /* held */
    enum lw_conn_state state;
    struct lw_buffer in;
    struct lw_buffer out;
    struct lw_scan scan;
    struct lw_head_memo memo;
    struct lw_choice choice;  /* that the same field lines lead to again */
    struct lw_repeat *repeat; /* the last head that C answered alone; owned, or NULL */
    struct lw_request *request; /* being served */
    struct lw_content content;  /* of that request */
    size_t unread;              /* in the kernel, when the write deadline was armed */
    int64_t reply_left;         /* octets of its answer still to come; < 0: not known */
    uint64_t served;            /* requests so far */
    uint64_t seen;              /* of these, when it was last settled */
    uint32_t minor_version;     /* of that request */
    bool keep_alive;            /* the client wishes it */
    bool is_trusted; /* what its requests say of who is behind `peer` is believed */
    bool is_chunked_reply;
    bool is_eof;       /* the client has ended its sending */
    bool has_hung_up;  /* it will, behind octets that are not read yet */
    bool is_shut;      /* we have ended ours */
    bool is_stalled;   /* pipelined heads wait until the client reads */
    bool is_advancing; /* C's own answers must not nest */
    bool is_dirty;     /* in the list of this turn */
    bool has_read;     /* octets came since the deadline was armed */
    bool has_written;  /* octets went since then */
    bool has_answered; /* a request has ended since then, or the PROXY header */
    struct lw_conn *next_dirty;
    struct lw_conn *prev;
    struct lw_conn *next;    /* of the open ones, or of the pool */
    char peer[LW_PEER_TEXT]; /* as the socket has it, or the header of its proxy */
};

/* Takes a connected, non-blocking descriptor.  0, or a libuv error and it is closed. */
int lw_conn_open(struct lw_loop *loop, const struct lw_site *site, int fd);

/* The site leads to another app: nothing is remembered of the last one. */
void lw_conn_renew(struct lw_loop *loop, const struct lw_site *site);

/* Cuts those that wait for an answer of this owner; closes those, and all of its
 * sites. */
void lw_conn_cut_owner(struct lw_loop *loop, const struct lw_owner *owner);
void lw_conn_close_owner(struct lw_loop *loop, const struct lw_owner *owner);

/* Marks the connection for lw_conn_settle_all in this turn. */
void lw_conn_touch(struct lw_conn *conn);

/* Serves what lies complete in the read buffer, until a function is asked. */
void lw_conn_advance(struct lw_conn *conn);

/* The answer is written and the request over; `close`: nothing may follow it on this
 * connection.  lw_conn_advance goes on. */
void lw_conn_answered(struct lw_conn *conn, bool close);

/* Sends what waits in `out`, as far as the client takes it. */
void lw_conn_flush(struct lw_conn *conn);

/* Ends the connection at once; with `reset` the client learns that content is
 * missing. */
void lw_conn_drop(struct lw_conn *conn, bool reset);

/* Reads once; false when nothing came, or the connection is gone. */
bool lw_conn_read(struct lw_conn *conn);

/* Lua may try again to read, where it waits for content. */
void lw_conn_wake_reader(struct lw_conn *conn);

/* Starts the deadline that belongs to the state, where it is not running
 * (lateness.c). */
void lw_conn_arm(struct lw_conn *conn);

/* For the loop. */
void lw_conn_settle_all(struct lw_loop *loop);
void lw_conn_touch_all(struct lw_loop *loop);
void lw_conn_close_all(struct lw_loop *loop);
void lw_conn_free_all(struct lw_loop *loop);
void lw_conn_late(struct lw_deadline *deadline, enum lw_deadline_kind kind);

#endif
