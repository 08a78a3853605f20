/* SPDX-License-Identifier: MIT
 *
 * Takes content off the read buffer piece by piece (RFC 9112 §6). */
#include "net/content.h"

#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/slice.h"
#include "http/fields.h"
#include "net/conn.h"
#include "net/loop.h"
#include "net/request.h"

void lw_content_begin(struct lw_content *content, const struct lw_head *head,
                      uint64_t limit)
{
    content->framing = head->framing;
    content->left = head->content_length;
    content->taken = 0;
    content->limit = limit;
    content->error = 0;
    content->wait_began_ms = 0;
    content->waited_ms = 0;
    content->expects_continue = head->expects_continue;
    content->is_done = head->framing == LW_FRAMING_NONE
                       || (head->framing == LW_FRAMING_LENGTH && content->left == 0);
    if (head->framing == LW_FRAMING_CHUNKED)
        memset(&content->chunked, 0, sizeof content->chunked);
}

/* Trailers outlive the read buffer: they are copied.  They stay apart from the headers
 * (RFC 9110 §6.5.1). */
static int read_trailers(struct lw_conn *conn, struct luaweb_slice lines)
{
    struct lw_request *request = conn->request;
    if (!request || lines.size <= 2)
        return 0;
    const char *why;
    char *copy = lw_arena_alloc(&request->arena, lines.size);
    memcpy(copy, lines.data, lines.size);
    uint32_t count = 1;
    for (size_t i = 0; i < lines.size; i++)
        count += copy[i] == '\n';
    struct luaweb_field *fields =
        lw_arena_alloc(&request->arena, count * sizeof *fields);
    int status = lw_fields_parse(copy, lines.size, fields, &count, &why);
    if (status)
        lw_tally_refusal(&conn->loop->tally, status, why);
    if (status == 0)
        request->facts.trailers = (struct luaweb_fields){fields, count};
    return status;
}

void lw_content_welcome(struct lw_conn *conn)
{
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct lw_content *content = &conn->content;
    if (!content->expects_continue)
        return;
    content->expects_continue = false;
    if (lw_buffer_size(&conn->in) > 0 || content->is_done || !conn->request
        || conn->request->is_started)
        return;
    lw_buffer_append(&conn->out, &conn->loop->blocks, interim, sizeof interim - 1);
    lw_conn_touch(conn);
}

static int wait_for_more(struct lw_conn *conn)
{
    struct lw_content *content = &conn->content;
    if (conn->is_eof) {
        lw_tally_refusal(&conn->loop->tally, 400,
                         "the connection ended within content");
        content->error = 400;
        return content->error;
    }
    if (content->wait_began_ms == 0)
        content->wait_began_ms = uv_now(&conn->loop->uv);
    lw_content_welcome(conn);
    return LUAWEB_BODY_WAIT;
}

static int next_chunk(struct lw_conn *conn, struct luaweb_slice *piece)
{
    const struct lw_limits *limits = &conn->loop->limits;
    const struct lw_chunked_limits chunked_limits = {limits->max_chunk_extensions,
                                                     limits->max_trailers};
    struct lw_buffer *in = &conn->in;
    size_t used = 0;
    const char *why;
    int result = lw_chunked_next(&conn->content.chunked,
                                 lw_slice(in->data + in->start, lw_buffer_size(in)),
                                 &chunked_limits, &used, piece, &why);
    lw_buffer_consume(in, used);
    if (result >= 100)
        lw_tally_refusal(&conn->loop->tally, result, why);
    if (result == 2) {
        int status = read_trailers(conn, *piece);
        conn->content.is_done = status == 0;
        return status ? status : LUAWEB_BODY_END;
    }
    return result;
}

static int next_of_length(struct lw_conn *conn, struct luaweb_slice *piece)
{
    struct lw_content *content = &conn->content;
    struct lw_buffer *in = &conn->in;
    size_t size = lw_buffer_size(in);
    if (size == 0)
        return LUAWEB_BODY_WAIT;
    if (size > content->left)
        size = (size_t)content->left;
    *piece = lw_slice(in->data + in->start, size);
    lw_buffer_consume(in, size);
    content->left -= size;
    content->is_done = content->left == 0;
    return LUAWEB_BODY_PIECE;
}

int lw_content_next(struct lw_conn *conn, struct luaweb_slice *piece)
{
    struct lw_content *content = &conn->content;
    if (content->error)
        return content->error;
    if (content->is_done)
        return LUAWEB_BODY_END;
    if (content->framing == LW_FRAMING_LENGTH
        && content->left + content->taken > content->limit) {
        content->error = 413;
        return 413;
    }
    int result = content->framing == LW_FRAMING_CHUNKED ? next_chunk(conn, piece)
                                                        : next_of_length(conn, piece);
    if (result == LUAWEB_BODY_WAIT)
        return wait_for_more(conn);
    if (result == LUAWEB_BODY_PIECE) {
        content->expects_continue = false;
        content->taken += piece->size;
        if (content->taken > content->limit)
            result = 413;
    }
    if (result >= 100)
        content->error = result;
    return result;
}

void lw_content_arrived(struct lw_conn *conn)
{
    struct lw_content *content = &conn->content;
    uint64_t rate = conn->loop->limits.body_rate;
    if (content->wait_began_ms == 0 || content->error)
        return;
    content->waited_ms += uv_now(&conn->loop->uv) - content->wait_began_ms;
    content->wait_began_ms = 0;
    uint64_t octets = content->taken + lw_buffer_size(&conn->in);
    if (content->waited_ms <= LW_BODY_RATE_MS
        || octets * 1000 >= rate * content->waited_ms)
        return;
    content->error = 408;
    lw_tally_add(&conn->loop->tally, LW_METRIC_LATE_RATE, 1);
}

bool lw_content_is_short(const struct lw_content *content)
{
    if (content->is_done)
        return true;
    if (content->error || content->expects_continue)
        return false;
    return content->framing == LW_FRAMING_CHUNKED || content->left <= LW_MAX_UNREAD;
}
