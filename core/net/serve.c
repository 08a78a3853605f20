/* SPDX-License-Identifier: MIT
 *
 * Takes whole heads off the read buffer, one after the other: scan, parse, route, and
 * either C's own answer or a function for the host (RFC 9112 §2, §9.3). */
#include "net/serve.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/slice.h"
#include "base/status.h"
#include "http/reply.h"
#include "machine/app.h"
#include "net/access_log.h"
#include "net/answer.h"
#include "net/dev.h"
#include "net/loop.h"
#include "net/params.h"
#include "net/proxied.h"
#include "net/ready.h"
#include "net/repeat.h"
#include "net/request.h"

#define TEXT_PLAIN "text/plain; charset=utf-8"

/* Nothing is known of the request but that it was none. */
static void log_refusal(const struct lw_conn *conn, int status, size_t size)
{
    const struct lw_access access = {
        .time_ms = lw_loop_time_ms(),
        .peer = lw_slice(conn->peer, strlen(conn->peer)),
        .status = status,
        .octets = size,
    };
    lw_access_log_add(conn->loop->access_log, &access);
}

static void refuse(struct lw_conn *conn, int status, const char *why,
                   struct luaweb_slice fields)
{
    struct lw_loop *loop = conn->loop;
    struct lw_buffer *in = &conn->in;
    char text[256];
    int n = snprintf(text, sizeof text, "%d %s: %s\n", status, lw_status_reason(status),
                     why);
    size_t size = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    struct lw_reply reply = {
        .status = status,
        .framing = LW_REPLY_LENGTH,
        .length = size,
        .close = true,
        .type = LW_SLICE(TEXT_PLAIN),
        .fields = fields,
        .date = lw_loop_date(loop),
    };
    lw_reply_head(&conn->out, &loop->blocks, &reply);
    bool is_head =
        lw_buffer_size(in) >= 5 && memcmp(in->data + in->start, "HEAD ", 5) == 0;
    if (!is_head)
        lw_buffer_append(&conn->out, &loop->blocks, text, size);
    conn->state = LW_CONN_CLOSING;
    lw_conn_touch(conn);
    if (loop->access_log)
        log_refusal(conn, status, is_head ? 0 : size);
}

void lw_serve_refuse(struct lw_conn *conn, int status, const char *why)
{
    lw_tally_refusal(&conn->loop->tally, status, why);
    refuse(conn, status, why, lw_slice("", 0));
}

void lw_serve_overflow(struct lw_conn *conn)
{
    if (lw_loop_may_say(conn->loop, &conn->loop->said_overflow_ms))
        lw_log(LW_LOG_WARN, "%u connections are open: more are refused",
               conn->loop->conn_count - 1);
    bool is_told =
        conn->loop->conn_count <= conn->loop->limits.max_connections + LW_OVERFLOW;
    lw_tally_add(&conn->loop->tally, is_told ? LW_METRIC_REFUSED : LW_METRIC_DROPPED,
                 1);
    if (!is_told)
        lw_conn_drop(conn, false);
    else
        refuse(conn, 503, "too many connections",
               LW_SLICE("Retry-After: " LW_RETRY_AFTER "\r\n"));
}

/* The work goes on until Lua has ended it. */
void lw_serve_late(struct lw_request *request)
{
    bool is_own = request->walk.machine->patience.timeout_ms >= 0;
    lw_request_keep(request);
    char id[LW_ID_SIZE];
    lw_request_id(request, id);
    lw_log(LW_LOG_WARN, "[%s] %.*s %.*s: its handler took longer than %s", id,
           (int)request->facts.method.size, request->facts.method.data,
           (int)(request->facts.target.size < 512 ? request->facts.target.size : 512),
           request->facts.target.data,
           is_own ? "the machine's timeout" : "--request-timeout");
    lw_loop_gone(request->loop, request, LUAWEB_GONE_CANCEL | LUAWEB_GONE_LATE);
    if (request->is_started)
        request->ops->abort(request);
    else
        lw_answer_busy(request);
}

static void fill_facts(struct lw_request *request, const struct lw_conn *conn,
                       const struct lw_head *head)
{
    struct luaweb_request *facts = &request->facts;
    facts->minor_version = head->minor_version;
    facts->has_query = head->parts.has_query;
    facts->method = head->method;
    facts->target = head->target;
    facts->scheme = head->parts.scheme.size ? head->parts.scheme : LW_SLICE("http");
    facts->host = head->host;
    facts->path = head->parts.path;
    facts->query = head->parts.query;
    facts->peer = lw_slice(conn->peer, strlen(conn->peer));
    facts->headers = (struct luaweb_fields){head->fields, head->field_count};
}

/* Handlers may go on without their clients, but not without bound. */
static bool is_busy(const struct lw_conn *conn)
{
    const struct lw_loop *loop = conn->loop;
    return conn->site->owner->is_full
           || loop->orphan_count >= loop->limits.max_connections;
}

static void begin_walk(struct lw_request *request, const struct lw_head *head,
                       const struct lw_decision *decision)
{
    struct lw_loop *loop = request->loop;
    struct lw_walk *walk = &request->walk;
    if (lw_machine_has(decision->machine, LUAWEB_LAST_MODIFIED))
        lw_loop_date(loop); /* the second is looked at */
    *walk = (struct lw_walk){
        .request = &request->facts,
        .arena = &request->arena,
        .trace = loop->dev ? lw_dev_begin(request) : loop->trace,
        .now = loop->date_second,
        .present = head->present,
        .content = {.length = head->content_length,
                    .limit = loop->limits.max_body,
                    .is_chunked = head->framing == LW_FRAMING_CHUNKED},
    };
    struct lw_choice *choice = &request->conn->choice;
    if (!head->is_repeated)
        choice->machine = NULL;
    else if (choice->machine == decision->machine)
        memcpy(walk->accepted, choice->accepted, sizeof walk->accepted);
    lw_walk_begin(walk, decision->machine, decision->method);
}

/* Goes as far as C can alone. */
static void walk(struct lw_conn *conn, struct lw_request *request,
                 const struct lw_decision *decision)
{
    struct luaweb_slice head = request->head;
    bool has_content = !conn->content.is_done;
    size_t unsent = lw_buffer_size(&conn->out);
    uint32_t function = lw_answer_walk(request);
    if (function == 0) { /* the head's octets are still there */
        if (!has_content && conn->state == LW_CONN_READING)
            lw_repeat_keep(conn, head, lw_buffer_size(&conn->out) - unsent);
        return;
    }
    if (is_busy(conn)) {
        lw_answer_busy(request);
        return;
    }
    if (decision->demands)
        lw_params_fill(request, decision);
    int64_t own_ms = decision->machine->patience.timeout_ms;
    uint64_t ms = own_ms < 0 ? conn->loop->limits.request_timeout : (uint64_t)own_ms;
    if (ms > 0)
        lw_deadline_arm_for(&conn->loop->deadlines, &request->deadline,
                            LW_DEADLINE_REQUEST, ms);
    request->is_asked = true;
    conn->loop->tally.running++;
    lw_loop_request(conn->loop, request, function);
}

/* Under which the request is counted, but for its status.  A method that the machine
 * does not have may be a usual one all the same. */
static uint32_t key_of(const struct lw_request *request,
                       const struct lw_decision *decision)
{
    const struct lw_method *method = decision->method;
    if (method && method->key)
        return decision->key | method->key;
    uint32_t number = lw_metrics_method(request->facts.method);
    return decision->key | lw_metrics_key_method(number);
}

static void decide(struct lw_request *request, bool is_server_wide,
                   struct lw_decision *decision)
{
    lw_app_decide(request->app, &request->facts, is_server_wide, &request->arena,
                  decision);
    if (is_server_wide)
        decision->key = lw_metrics_key(LW_METRIC_REQUEST, LW_LABEL_SERVER, 0, 0);
}

static void dispatch(struct lw_conn *conn, struct lw_request *request,
                     const struct lw_head *head)
{
    struct lw_decision decision;
    bool is_health = lw_ready_is_asked(conn->loop, request->facts.path);
    if (is_health)
        decision = (struct lw_decision){.key = conn->loop->health_key};
    else
        decide(request, head->parts.form == LW_TARGET_ASTERISK, &decision);
    lw_content_begin(&conn->content, head, conn->loop->limits.max_body);
    conn->state = LW_CONN_SERVING;
    conn->keep_alive = head->keep_alive;
    conn->minor_version = head->minor_version;
    conn->request = request;
    conn->served++;
    conn->is_chunked_reply = false;
    conn->reply_left = -1;
    request->resource = decision.resource;
    request->key = key_of(request, &decision);
    if (is_health) {
        lw_ready_answer(request);
        return;
    }
    if (!decision.machine) {
        lw_answer_status(request, 204);
        return;
    }
    begin_walk(request, head, &decision);
    walk(conn, request, &decision);
}

/* Both are inlined here: a server does little else as often. */
static inline __attribute__((flatten)) int scan(struct lw_conn *conn, size_t *head_size,
                                                const char **why)
{
    const struct lw_limits *limits = &conn->loop->limits;
    const struct lw_head_limits head_limits = {
        limits->max_target, limits->max_header_size, (uint32_t)limits->max_headers};
    const struct lw_buffer *in = &conn->in;
    struct luaweb_slice octets = lw_slice(in->data + in->start, lw_buffer_size(in));
    return lw_head_scan(&conn->scan, octets, &head_limits, &conn->memo, head_size, why);
}

static inline __attribute__((flatten)) int parse(struct lw_conn *conn, size_t head_size,
                                                 struct lw_head *head, const char **why)
{
    char *data = conn->in.data + conn->in.start;
    return lw_head_parse(&conn->scan, data, head_size, head, why);
}

/* Parses the head that was scanned, and serves it. */
static void serve(struct lw_conn *conn, size_t head_size)
{
    struct lw_buffer *in = &conn->in;
    struct lw_request *request = lw_request_new(conn->loop, conn->site);
    uint32_t lines = conn->scan.lines - 2;
    struct lw_head head = {
        .memo = &conn->memo,
        .fields = lw_arena_alloc(&request->arena, lines * sizeof *head.fields),
        .field_capacity = lines,
    };
    char *data = in->data + in->start;
    const char *why;
    int status = parse(conn, head_size, &head, &why);
    if (!status) {
        fill_facts(request, conn, &head);
        if (conn->is_trusted)
            status = lw_proxied_request(conn, request, &why);
    }
    if (status) {
        lw_request_end(request);
        lw_serve_refuse(conn, status, why);
        return;
    }
    memset(&conn->scan, 0, sizeof conn->scan);
    lw_buffer_consume(in, head_size);
    request->ops = &lw_http1_ops;
    request->began_ns = lw_tally_now(&conn->loop->tally);
    request->conn = conn;
    request->may_be_named = conn->is_trusted || conn->loop->limits.takes_any_id;
    request->head = lw_slice(data, head_size);
    dispatch(conn, request, &head);
}

static void skip_empty_lines(struct lw_conn *conn)
{
    struct lw_buffer *in = &conn->in;
    if (conn->scan.lines > 0)
        return;
    size_t size = lw_head_skip(in->data + in->start, lw_buffer_size(in));
    if (size == 0)
        return;
    lw_buffer_consume(in, size);
    memset(&conn->scan, 0, sizeof conn->scan);
}

/* Serves the next head; false when it is not whole yet. */
static bool serve_next(struct lw_conn *conn)
{
    size_t head_size;
    const char *why;
    if (conn->repeat && lw_repeat_answer(conn))
        return true;
    skip_empty_lines(conn);
    if (lw_buffer_size(&conn->in) == 0)
        return false;
    int result = scan(conn, &head_size, &why);
    if (result == 1)
        return false;
    if (result)
        lw_serve_refuse(conn, result, why);
    else
        serve(conn, head_size);
    return true;
}

/* The client has ended its sending: nothing can follow what we have. */
static void end_of_stream(struct lw_conn *conn)
{
    if (lw_buffer_size(&conn->in) > 0)
        lw_serve_refuse(conn, 400, "the connection ended within a head");
    else
        conn->state = LW_CONN_CLOSING;
}

void lw_conn_advance(struct lw_conn *conn)
{
    if (conn->is_advancing)
        return;
    conn->is_advancing = true;
    while (conn->state == LW_CONN_READING && !conn->is_stalled) {
        conn->is_stalled = lw_buffer_size(&conn->out) > LW_OUT_HIGH;
        if (conn->is_stalled || !serve_next(conn))
            break;
    }
    conn->is_advancing = false;
    lw_conn_touch(conn);
    if (conn->is_stalled)
        return;
    if (conn->is_eof && conn->state == LW_CONN_READING)
        end_of_stream(conn);
}
