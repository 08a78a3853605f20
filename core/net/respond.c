/* SPDX-License-Identifier: MIT
 *
 * What HTTP/1 does for a request: lends its content, writes its answer (RFC 9112 §6,
 * §7, §9.6).  The answer goes into the connection's buffer; settling sends it. */
#include <string.h>

#include "base/limits.h"
#include "base/slice.h"
#include "http/reply.h"
#include "net/conn.h"
#include "net/dev.h"
#include "net/handover.h"
#include "net/loop.h"
#include "net/request.h"
#include "net/serve.h"

#define WRITE_PIECE 65536 /* octets of content taken in one call */

static int body(struct lw_request *request, struct luaweb_slice *piece)
{
    struct lw_conn *conn = request->conn;
    if (!conn)
        return LUAWEB_BODY_GONE;
    int result = lw_content_next(conn, piece);
    if (result == LUAWEB_BODY_WAIT) {
        request->waits_for_content = true;
        lw_conn_touch(conn);
    }
    return result;
}

static void body_limit(struct lw_request *request, uint64_t limit)
{
    if (request->conn)
        request->conn->content.limit = limit;
}

/* What has no content has no type either (RFC 9110 §15.3.5, §15.4.5). */
static bool is_bare(int status)
{
    return status == 204 || status == 304;
}

static enum lw_reply_framing framing_of(const struct lw_conn *conn,
                                        const struct lw_response *response)
{
    if (is_bare(response->status))
        return LW_REPLY_BARE;
    if (response->length >= 0)
        return LW_REPLY_LENGTH;
    return conn->minor_version == 0 ? LW_REPLY_UNTIL_CLOSE : LW_REPLY_CHUNKED;
}

static bool must_close(const struct lw_request *request, enum lw_reply_framing framing)
{
    const struct lw_conn *conn = request->conn;
    uint64_t most = conn->loop->limits.max_requests;
    return !conn->keep_alive || (most > 0 && conn->served >= most)
           || request->wants_close || conn->loop->is_draining
           || framing == LW_REPLY_UNTIL_CLOSE || !lw_content_is_short(&conn->content)
           || lw_handover_sheds(conn->loop);
}

/* Appends the head and remembers whether the connection ends with this answer. */
static enum lw_reply_framing write_head(struct lw_request *request,
                                        const struct lw_response *response)
{
    struct lw_conn *conn = request->conn;
    enum lw_reply_framing framing = framing_of(conn, response);
    if (lw_request_shows_id(request, response->status))
        lw_request_show_id(request);
    request->status = response->status;
    struct lw_reply reply = {
        .status = response->status,
        .framing = framing,
        .length = response->length > 0 ? (uint64_t)response->length : 0,
        .close = must_close(request, framing),
        .has_date = request->has_date,
        .fields = lw_slice(request->fields.data, lw_buffer_size(&request->fields)),
        .date = lw_loop_date(conn->loop),
    };
    reply.keep_alive = !reply.close && conn->minor_version == 0;
    if (!request->has_type)
        reply.type = response->type;
    conn->keep_alive = !reply.close;
    lw_reply_head(&conn->out, &conn->loop->blocks, &reply);
    return framing;
}

/* What is sent behind the content, while an app is developed. */
static struct luaweb_slice tail_of(struct lw_request *request,
                                   const struct lw_response *response)
{
    return request->loop->dev ? lw_dev_tail(request, response) : lw_slice("", 0);
}

static int reply(struct lw_request *request, const struct lw_response *response,
                 struct luaweb_slice content)
{
    struct lw_conn *conn = request->conn;
    if (!conn) {
        lw_request_log(request);
        lw_request_end(request);
        return LUAWEB_REPLY_GONE;
    }
    struct lw_response whole = *response;
    if (is_bare(whole.status) || whole.status == 205)
        content.size = 0; /* RFC 9110 §15.3.6 */
    if (is_bare(whole.status))
        whole.type.data = NULL;
    struct luaweb_slice tail = tail_of(request, &whole);
    whole.length = (double)(content.size + tail.size);
    write_head(request, &whole);
    if (lw_reply_has_content(request->facts.method, whole.status)) {
        lw_buffer_append(&conn->out, &conn->loop->blocks, content.data, content.size);
        lw_buffer_append(&conn->out, &conn->loop->blocks, tail.data, tail.size);
        request->sent = content.size + tail.size;
    }
    bool close = !conn->keep_alive;
    lw_request_log(request);
    lw_request_end(request);
    lw_conn_answered(conn, close);
    lw_conn_advance(conn);
    return LUAWEB_REPLY_OK;
}

static int start(struct lw_request *request, const struct lw_response *response)
{
    struct lw_conn *conn = request->conn;
    if (!conn)
        return LUAWEB_REPLY_GONE;
    struct lw_response known = *response;
    if (known.length < 0)
        known.length = request->declared_length;
    else { /* the handler is done; what is left is the client's time */
        request->is_given = true;
        lw_request_disarm(request);
    }
    bool has_content = lw_reply_has_content(request->facts.method, known.status);
    if (is_bare(known.status))
        known.type.data = NULL;
    struct luaweb_slice tail = tail_of(request, &known);
    double content_length = known.length;
    if (content_length >= 0)
        known.length += (double)tail.size;
    enum lw_reply_framing framing = write_head(request, &known);
    request->tail = has_content ? tail : lw_slice("", 0);
    request->is_started = true;
    lw_buffer_release(&request->fields,
                      &conn->loop->blocks); /* trailers from here on */
    conn->is_chunked_reply = framing == LW_REPLY_CHUNKED;
    conn->reply_left = framing == LW_REPLY_LENGTH ? (int64_t)content_length : -1;
    lw_conn_touch(conn);
    if (has_content)
        return LUAWEB_REPLY_OK;
    conn->is_chunked_reply = false;
    conn->reply_left = 0;
    return LUAWEB_REPLY_NO_BODY;
}

static void append_chunk(struct lw_conn *conn, struct luaweb_slice data)
{
    static const char digits[] = "0123456789abcdef";
    char line[18];
    size_t at = sizeof line;
    line[--at] = '\n';
    line[--at] = '\r';
    for (size_t size = data.size; size > 0; size >>= 4)
        line[--at] = digits[size & 15];
    lw_buffer_append(&conn->out, &conn->loop->blocks, line + at, sizeof line - at);
    lw_buffer_append(&conn->out, &conn->loop->blocks, data.data, data.size);
    lw_buffer_append(&conn->out, &conn->loop->blocks, "\r\n", 2);
}

static void append_tail(struct lw_conn *conn, struct luaweb_slice tail)
{
    if (tail.size > 0 && conn->is_chunked_reply)
        append_chunk(conn, tail);
    else
        lw_buffer_append(&conn->out, &conn->loop->blocks, tail.data, tail.size);
}

static int room(struct lw_request *request)
{
    struct lw_conn *conn = request->conn;
    if (conn && lw_buffer_size(&conn->out) >= LW_OUT_HIGH)
        lw_conn_flush(conn);
    conn = request->conn; /* a flush may find the client gone */
    if (!conn)
        return LUAWEB_REPLY_GONE;
    lw_conn_touch(conn);
    request->waits_for_room = lw_buffer_size(&conn->out) >= LW_OUT_HIGH;
    return request->waits_for_room ? 0 : 1;
}

static int64_t write_content(struct lw_request *request, struct luaweb_slice data)
{
    int result = room(request);
    if (result != 1)
        return result;
    struct lw_conn *conn = request->conn;
    if (data.size > WRITE_PIECE)
        data.size = WRITE_PIECE;
    if (conn->reply_left >= 0 && (uint64_t)conn->reply_left < data.size)
        return LUAWEB_REPLY_TOO_LARGE;
    if (conn->is_chunked_reply)
        append_chunk(conn, data);
    else
        lw_buffer_append(&conn->out, &conn->loop->blocks, data.data, data.size);
    request->sent += data.size;
    if (conn->reply_left >= 0)
        conn->reply_left -= (int64_t)data.size;
    return (int64_t)data.size;
}

/* Without framing only a reset tells that content is missing; with it, a plain close
 * does, and loses nothing of the answers before. */
static void cut(struct lw_request *request)
{
    struct lw_conn *conn = request->conn;
    bool is_framed = conn->is_chunked_reply || conn->reply_left >= 0;
    if (request->is_started && is_framed) {
        lw_conn_answered(conn, true);
        return;
    }
    lw_request_keep(request);
    conn->request = NULL;
    lw_conn_drop(conn, true);
}

static void abort_reply(struct lw_request *request)
{
    if (request->is_started)
        lw_tally_add(&request->loop->tally, LW_METRIC_CUT, 1);
    if (request->conn)
        lw_conn_flush(request->conn);
    request->is_cut = true;
    lw_request_log(request);
    if (request->conn)
        cut(request);
    lw_request_end(request);
}

static int finish(struct lw_request *request)
{
    struct lw_conn *conn = request->conn;
    if (!conn || conn->reply_left > 0) {
        abort_reply(request);
        return LUAWEB_REPLY_GONE;
    }
    append_tail(conn, request->tail);
    if (conn->is_chunked_reply) {
        lw_buffer_append(&conn->out, &conn->loop->blocks, "0\r\n", 3);
        lw_buffer_append(&conn->out, &conn->loop->blocks,
                         request->fields.data + request->fields.start,
                         lw_buffer_size(&request->fields));
        lw_buffer_append(&conn->out, &conn->loop->blocks, "\r\n", 2);
    }
    bool close = !conn->keep_alive;
    lw_request_log(request);
    lw_request_end(request);
    lw_conn_answered(conn, close);
    lw_conn_advance(conn);
    return LUAWEB_REPLY_OK;
}

const struct lw_request_ops lw_http1_ops = {
    .body = body,
    .body_limit = body_limit,
    .reply = reply,
    .start = start,
    .room = room,
    .write = write_content,
    .finish = finish,
    .abort = abort_reply,
};
