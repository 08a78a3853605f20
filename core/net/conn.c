/* SPDX-License-Identifier: MIT
 *
 * The life of a connection: opening, reading, settling at the end of a turn, deadlines
 * and closing.  What happens between a whole head and its answer is in serve.c. */
#include "net/conn.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/require.h"
#include "base/slice.h"
#include "net/gone.h"
#include "net/listen.h"
#include "net/loop.h"
#include "net/proxied.h"
#include "net/repeat.h"
#include "net/request.h"
#include "net/serve.h"

#define READ_ROOM 4096 /* asked for in front of a read */

static void on_ready(struct lw_transport *transport, int status, int events);

int lw_conn_open(struct lw_loop *loop, const struct lw_site *site, int fd)
{
    struct lw_conn *conn = loop->free_conns;
    if (conn)
        loop->free_conns = conn->next;
    else
        conn = lw_alloc(sizeof *conn);
    memset(conn, 0, sizeof *conn);
    int error = lw_transport_open(&conn->transport, &loop->uv, fd, on_ready);
    if (error) {
        free(conn);
        return error;
    }
    conn->loop = loop;
    conn->site = site;
    conn->next = loop->conns;
    if (conn->next)
        conn->next->prev = conn;
    loop->conns = conn;
    lw_loop_count_conn(loop, 1);
    struct lw_peer peer = lw_transport_peer(&conn->transport);
    lw_peer_write(&peer, conn->peer);
    lw_conn_touch(conn);
    if (loop->trusted)
        lw_proxied_open(conn, &peer);
    if (conn->state == LW_CONN_CLOSED)
        return 0;
    if (loop->conn_count > loop->limits.max_connections)
        lw_serve_overflow(conn);
    return 0;
}

static void on_closed(struct lw_transport *transport)
{
    struct lw_conn *conn = (struct lw_conn *)transport;
    lw_require(!conn->is_dirty);
    conn->next = conn->loop->free_conns;
    conn->loop->free_conns = conn;
}

void lw_conn_wake_reader(struct lw_conn *conn)
{
    if (!conn->request->waits_for_content)
        return;
    conn->request->waits_for_content = false;
    lw_loop_wake(conn->loop, conn->request->facts.slot);
}

static void wake_writer(struct lw_conn *conn)
{
    if (!conn->request->waits_for_room)
        return;
    conn->request->waits_for_room = false;
    lw_loop_wake(conn->loop, conn->request->facts.slot);
}

/* The address outlives the connection, whose memory is used again. */
static void keep_peer(struct lw_request *request)
{
    struct luaweb_slice peer = request->facts.peer;
    char *copy = lw_arena_alloc(&request->arena, peer.size);
    memcpy(copy, peer.data, peer.size);
    request->facts.peer = lw_slice(copy, peer.size);
}

void lw_conn_drop(struct lw_conn *conn, bool reset)
{
    struct lw_loop *loop = conn->loop;
    if (conn->state == LW_CONN_CLOSED)
        return;
    conn->state = LW_CONN_CLOSED;
    if (conn->request) {
        lw_request_keep(conn->request);
        keep_peer(conn->request);
        conn->request->conn = NULL;
        lw_loop_count_orphan(loop, 1);
        lw_conn_wake_reader(conn);
        wake_writer(conn);
        lw_gone_lost(conn->request);
        conn->request = NULL;
    }
    lw_deadline_arm(&loop->deadlines, &conn->deadline, LW_DEADLINE_NONE);
    lw_buffer_release(&conn->in, &loop->blocks);
    lw_buffer_release(&conn->out, &loop->blocks);
    lw_repeat_forget(conn);
    if (conn->prev)
        conn->prev->next = conn->next;
    else
        loop->conns = conn->next;
    if (conn->next)
        conn->next->prev = conn->prev;
    lw_loop_count_conn(loop, -1);
    lw_transport_close(&conn->transport, reset, on_closed);
    lw_listen_resume_all(loop);
    lw_loop_check_drained(loop);
}

void lw_conn_touch(struct lw_conn *conn)
{
    if (conn->is_dirty || conn->state == LW_CONN_CLOSED)
        return;
    conn->is_dirty = true;
    conn->next_dirty = conn->loop->dirty;
    conn->loop->dirty = conn;
}

/* One read; false when nothing came (again later, or the connection is gone). */
static bool fill(struct lw_conn *conn)
{
    struct lw_buffer *in = &conn->in;
    if (conn->request)
        lw_request_keep(conn->request);
    if (lw_buffer_size(in) == 0)
        in->start = in->end = 0;
    lw_buffer_reserve(in, &conn->loop->blocks, READ_ROOM);
    ssize_t n = lw_transport_receive(&conn->transport, in->data + in->end,
                                     in->capacity - in->end);
    if (n > 0) {
        in->end += (size_t)n;
        lw_tally_add(&conn->loop->tally, LW_METRIC_RECEIVED, (double)n);
        conn->has_read = true;
        return true;
    }
    if (n == UV_EAGAIN)
        return false;
    if (n < 0) {
        lw_conn_drop(conn, false);
        return false;
    }
    conn->is_eof = true;
    return true;
}

/* Reads unread content away, as far as it is here. */
static void swallow(struct lw_conn *conn)
{
    struct luaweb_slice piece;
    int result;
    do
        result = lw_content_next(conn, &piece);
    while (result == LUAWEB_BODY_PIECE);
    if (result == LUAWEB_BODY_END)
        conn->state = LW_CONN_READING;
    else if (result != LUAWEB_BODY_WAIT)
        conn->state = LW_CONN_CLOSING;
}

void lw_conn_answered(struct lw_conn *conn, bool close)
{
    conn->request = NULL;
    conn->has_answered = true;
    lw_conn_touch(conn);
    if (close || conn->content.error) {
        conn->state = LW_CONN_CLOSING;
    } else if (conn->content.is_done) {
        conn->state = LW_CONN_READING;
    } else {
        conn->state = LW_CONN_DRAINING;
        conn->content.limit = conn->content.taken + LW_MAX_UNREAD;
        swallow(conn);
    }
}

static void on_octets(struct lw_conn *conn)
{
    switch (conn->state) {
    case LW_CONN_READING: lw_conn_advance(conn); break;
    case LW_CONN_OPENING: lw_proxied_advance(conn); break;
    case LW_CONN_SERVING:
        lw_content_arrived(conn);
        lw_conn_wake_reader(conn);
        break;
    case LW_CONN_DRAINING:
        lw_content_arrived(conn);
        swallow(conn);
        lw_conn_advance(conn);
        break;
    default: lw_buffer_release(&conn->in, &conn->loop->blocks); break;
    }
}

bool lw_conn_read(struct lw_conn *conn)
{
    if (!fill(conn))
        return false;
    on_octets(conn);
    return true;
}

static void on_ready(struct lw_transport *transport, int status, int events)
{
    struct lw_conn *conn = (struct lw_conn *)transport;
    struct lw_loop *loop = conn->loop;
    if (status < 0) {
        lw_conn_drop(conn, false);
        return;
    }
    lw_conn_touch(conn); /* settling sends what waits */
    if (events & UV_DISCONNECT)
        conn->has_hung_up = true;
    if (events & UV_READABLE)
        lw_conn_read(conn);
    lw_loop_relieve(loop);
}

void lw_conn_flush(struct lw_conn *conn)
{
    struct lw_buffer *out = &conn->out;
    while (lw_buffer_size(out) > 0) {
        ssize_t n = lw_transport_send(&conn->transport, out->data + out->start,
                                      lw_buffer_size(out));
        if (n == UV_EAGAIN)
            return;
        if (n < 0) {
            lw_conn_drop(conn, false);
            return;
        }
        conn->has_written = true;
        lw_tally_add(&conn->loop->tally, LW_METRIC_SENT, (double)n);
        lw_buffer_consume(out, (size_t)n);
    }
    lw_buffer_release(out, &conn->loop->blocks);
}

static bool wants_octets(const struct lw_conn *conn)
{
    if (conn->is_eof)
        return false;
    if (conn->state == LW_CONN_SERVING)
        return conn->request->waits_for_content
               || lw_buffer_size(&conn->in) < conn->loop->limits.max_read_ahead;
    return !conn->is_stalled;
}

/* All is said: ours is shut, theirs is swallowed until it ends, so that the client gets
 * to read our last answer (RFC 9112 §9.6). */
static void close_gently(struct lw_conn *conn)
{
    if (lw_buffer_size(&conn->out) > 0)
        return;
    lw_buffer_release(&conn->in, &conn->loop->blocks);
    if (!conn->is_shut)
        lw_transport_finish(&conn->transport);
    conn->is_shut = true;
    if (conn->is_eof)
        lw_conn_drop(conn, false);
}

/* The client has taken what waited: on with what waited for that. */
static void go_on(struct lw_conn *conn)
{
    if (lw_buffer_size(&conn->out) > LW_OUT_LOW)
        return;
    if (conn->is_stalled) {
        conn->is_stalled = false;
        lw_conn_advance(conn);
    } else if (conn->request) {
        wake_writer(conn);
    }
}

static bool is_idle(const struct lw_conn *conn)
{
    return (conn->state == LW_CONN_READING || conn->state == LW_CONN_OPENING)
           && lw_buffer_size(&conn->in) == 0 && lw_buffer_size(&conn->out) == 0;
}

static void settle(struct lw_conn *conn)
{
    if (conn->state == LW_CONN_CLOSED)
        return;
    lw_tally_pipelined(&conn->loop->tally, &conn->seen, conn->served);
    if (conn->request)
        lw_request_keep(conn->request);
    lw_conn_flush(conn);
    if (conn->state == LW_CONN_CLOSED)
        return;
    go_on(conn);
    if (conn->loop->closes_idle && is_idle(conn))
        conn->state = LW_CONN_CLOSING;
    if (conn->state == LW_CONN_CLOSING)
        close_gently(conn);
    if (conn->state == LW_CONN_CLOSED)
        return;
    if (conn->state == LW_CONN_READING && lw_buffer_size(&conn->in) == 0)
        lw_buffer_release(&conn->in, &conn->loop->blocks);
    bool readable = wants_octets(conn);
    bool watches = !readable && !conn->is_eof && !conn->has_hung_up;
    lw_transport_want(&conn->transport, readable, lw_buffer_size(&conn->out) > 0,
                      watches);
    lw_conn_arm(conn);
}

void lw_conn_settle_all(struct lw_loop *loop)
{
    while (loop->dirty) {
        struct lw_conn *conn = loop->dirty;
        loop->dirty = conn->next_dirty;
        conn->is_dirty = false;
        settle(conn);
    }
}

void lw_conn_touch_all(struct lw_loop *loop)
{
    for (struct lw_conn *conn = loop->conns; conn; conn = conn->next)
        lw_conn_touch(conn);
}

void lw_conn_renew(struct lw_loop *loop, const struct lw_site *site)
{
    for (struct lw_conn *conn = loop->conns; conn; conn = conn->next) {
        if (conn->site != site)
            continue;
        conn->choice.machine = NULL;
        lw_repeat_forget(conn);
    }
}

void lw_conn_cut_owner(struct lw_loop *loop, const struct lw_owner *owner)
{
    struct lw_conn *next;
    for (struct lw_conn *conn = loop->conns; conn; conn = next) {
        next = conn->next;
        if (conn->request && loop->ids[conn->request->facts.slot].owner == owner)
            lw_conn_drop(conn, true);
    }
    lw_conn_settle_all(loop);
}

void lw_conn_close_owner(struct lw_loop *loop, const struct lw_owner *owner)
{
    struct lw_conn *next;
    lw_conn_cut_owner(loop, owner);
    for (struct lw_conn *conn = loop->conns; conn; conn = next) {
        next = conn->next;
        if (conn->site->owner == owner)
            lw_conn_drop(conn, false);
    }
    lw_conn_settle_all(loop);
}

void lw_conn_close_all(struct lw_loop *loop)
{
    while (loop->conns)
        lw_conn_drop(loop->conns, true);
    lw_conn_settle_all(loop);
}

void lw_conn_free_all(struct lw_loop *loop)
{
    while (loop->free_conns) {
        struct lw_conn *conn = loop->free_conns;
        loop->free_conns = conn->next;
        free(conn);
    }
}
