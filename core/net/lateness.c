/* SPDX-License-Identifier: MIT
 *
 * The deadlines of a connection: which one runs in which state, when it starts anew,
 * and what happens when it passes.  The queues themselves are in deadline.c. */
#include <assert.h>
#include <stddef.h>

#include "base/log.h"
#include "net/conn.h"
#include "net/gone.h"
#include "net/loop.h"
#include "net/proxied.h"
#include "net/request.h"
#include "net/serve.h"

/* A CR alone may be half of an empty line, with which no head begins. */
static bool has_head_begun(const struct lw_buffer *in)
{
    size_t size = lw_buffer_size(in);
    return size > 1 || (size == 1 && in->data[in->start] != '\r');
}

/* The kind, and where the app says how long: its duration. */
static enum lw_deadline_kind deadline_of(const struct lw_conn *conn, uint64_t *own_ms)
{
    if (lw_buffer_size(&conn->out) > 0)
        return LW_DEADLINE_WRITE;
    switch (conn->state) {
    case LW_CONN_READING:
        return has_head_begun(&conn->in) ? LW_DEADLINE_HEADER : LW_DEADLINE_IDLE;
    case LW_CONN_OPENING: return LW_DEADLINE_HEADER; /* from its first moment */
    case LW_CONN_SERVING:
        if (conn->request->waits_for_content)
            return LW_DEADLINE_BODY;
        return lw_gone_is_awaited(conn, own_ms) ? LW_DEADLINE_GRACE : LW_DEADLINE_NONE;
    case LW_CONN_DRAINING: return LW_DEADLINE_BODY;
    default: return LW_DEADLINE_LINGER;
    }
}

/* Rest counts from the last answer, a head from its first octet, a close from its
 * shutdown; the other deadlines start anew whenever octets move. */
static bool is_anew(const struct lw_conn *conn, enum lw_deadline_kind kind)
{
    if (kind != conn->deadline.kind)
        return true;
    if (kind == LW_DEADLINE_IDLE || kind == LW_DEADLINE_HEADER)
        return conn->has_answered;
    if (kind == LW_DEADLINE_WRITE)
        return conn->has_written;
    return conn->has_read && kind == LW_DEADLINE_BODY;
}

void lw_conn_arm(struct lw_conn *conn)
{
    uint64_t own_ms;
    enum lw_deadline_kind kind = deadline_of(conn, &own_ms);
    bool anew = is_anew(conn, kind);
    conn->has_read = conn->has_written = conn->has_answered = false;
    if (!anew)
        return;
    if (kind == LW_DEADLINE_WRITE)
        conn->unread = lw_transport_unread(&conn->transport);
    if (kind == LW_DEADLINE_GRACE)
        lw_deadline_arm_for(&conn->loop->deadlines, &conn->deadline, kind, own_ms);
    else
        lw_deadline_arm(&conn->loop->deadlines, &conn->deadline, kind);
}

static_assert(LW_METRIC_LATE_LINGER - LW_METRIC_LATE_IDLE
                  == LW_DEADLINE_LINGER - LW_DEADLINE_IDLE,
              "a deadline has a row, in their order");

static void count(const struct lw_loop *loop, enum lw_deadline_kind kind)
{
    enum lw_metric metric = LW_METRIC_LATE_IDLE + (kind - LW_DEADLINE_IDLE);
    lw_metrics_add(loop->tally.slot, metric, 1);
}

/* Timers come before what has arrived meanwhile is read: a last look. */
static void on_late_head(struct lw_conn *conn)
{
    lw_conn_read(conn);
    if (conn->state == LW_CONN_OPENING) {
        count(conn->loop, LW_DEADLINE_HEADER);
        lw_proxied_late(conn);
    } else if (conn->state == LW_CONN_READING && has_head_begun(&conn->in)) {
        count(conn->loop, LW_DEADLINE_HEADER);
        lw_serve_refuse(conn, 408, "the head took too long");
    }
}

static void on_late_content(struct lw_conn *conn)
{
    conn->content.error = 408;
    count(conn->loop, LW_DEADLINE_BODY);
    if (conn->state == LW_CONN_SERVING)
        lw_conn_wake_reader(conn);
    else
        conn->state = LW_CONN_CLOSING;
}

/* A client may read slowly: what the kernel still holds tells, long before it takes
 * more from us. */
static void on_late_reader(struct lw_conn *conn)
{
    if (lw_transport_unread(&conn->transport) < conn->unread)
        return; /* settling arms the deadline anew */
    count(conn->loop, LW_DEADLINE_WRITE);
    lw_log(LW_LOG_INFO, "%s does not read its answer: cut (--write-timeout)",
           conn->peer);
    lw_conn_drop(conn, true);
}

static void on_late_handler(struct lw_deadline *deadline)
{
    size_t offset = offsetof(struct lw_request, deadline);
    struct lw_request *request = (void *)((char *)deadline - offset);
    count(request->loop, LW_DEADLINE_REQUEST);
    if (request->conn)
        lw_conn_touch(request->conn);
    lw_serve_late(request);
}

void lw_conn_late(struct lw_deadline *deadline, enum lw_deadline_kind kind)
{
    if (kind == LW_DEADLINE_REQUEST) {
        on_late_handler(deadline);
        return;
    }
    size_t offset = offsetof(struct lw_conn, deadline);
    struct lw_conn *conn = (void *)((char *)deadline - offset);
    uint64_t own_ms;
    lw_conn_touch(conn);
    if (deadline_of(conn, &own_ms) != kind)
        return; /* another one that passed just now has ended what this was for */
    switch (kind) {
    case LW_DEADLINE_IDLE:
        count(conn->loop, kind);
        conn->state = LW_CONN_CLOSING;
        break;
    case LW_DEADLINE_HEADER: on_late_head(conn); break;
    case LW_DEADLINE_BODY:
        if (!lw_conn_read(conn) && conn->state != LW_CONN_CLOSED)
            on_late_content(conn);
        break;
    case LW_DEADLINE_WRITE: on_late_reader(conn); break;
    case LW_DEADLINE_GRACE:
        count(conn->loop, kind);
        lw_gone_quietly(conn);
        break;
    default:
        count(conn->loop, LW_DEADLINE_LINGER);
        lw_conn_drop(conn, false);
        break;
    }
}
