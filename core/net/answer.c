/* SPDX-License-Identifier: MIT
 *
 * Running walks and composing what they end in (RFC 9110 §10.1.1, §15; RFC 9457). */
#include "net/answer.h"

#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/slice.h"
#include "base/status.h"
#include "http/fields.h"
#include "http/problem.h"
#include "machine/fields.h"
#include "net/conn.h"
#include "net/loop.h"
#include "net/parts.h"

#define RETRY_AFTER "5" /* seconds */
#define TEXT_PLAIN  "text/plain; charset=utf-8"

/* Whether the client waits for leave to send content that will be read (RFC 9110
 * §10.1.1): it is given when the walk comes to where content may be read. */
static bool reads_content(const struct lw_walk *walk)
{
    return walk->machine->graph->rows[walk->row].given.flags & LUAWEB_ROW_READS;
}

static void say_broken(const struct lw_request *request)
{
    char id[LW_ID_SIZE];
    lw_request_id(request, id);
    lw_log(LW_LOG_ERROR, "[%s] %.*s: %s led to a %d without %s", id,
           (int)request->resource.size, request->resource.data,
           request->walk.machine->graph->rows[request->walk.row].given.name,
           request->walk.status,
           request->walk.status == 401 ? "a challenge" : "a location");
}

static void add_fields(struct lw_request *request)
{
    if (request->walk.machine)
        lw_fields_write(&request->walk, &request->fields, &request->loop->blocks);
}

static void reply_problem(struct lw_request *request, int status)
{
    struct lw_problem problem;
    struct lw_response response = {.status = status};
    lw_problem_write(request->facts.headers, status, lw_slice("", 0), &problem);
    lw_request_field(request, LW_SLICE("Vary"), LW_SLICE("Accept"),
                     LW_MAX_RESPONSE_HEAD);
    response.type = problem.type;
    request->ops->reply(request, &response, lw_slice(problem.text, problem.size));
}

/* Which statuses are explained by a short body, where nobody else speaks. */
static bool has_default_body(int status)
{
    return status >= 300 && status != 304;
}

static void reply_constant(struct lw_request *request, const struct lw_handler *handler)
{
    struct lw_walk *walk = &request->walk;
    struct lw_response response = {.status = walk->status};
    struct luaweb_slice text = handler->text;
    struct luaweb_slice given = handler->type;
    if (given.size == 0)
        given.data = NULL;
    response.type = lw_fields_type(walk, given);
    if (walk->status == 206) {
        text = lw_parts_cut(request, text, &response.type);
        if (walk->present & LW_HAS_IF_RANGE && !request->has_parts)
            response.type.data = NULL; /* the client has it (RFC 9110 §15.3.7) */
    }
    request->ops->reply(request, &response, text);
}

/* The constant that speaks at the end of a walk, or NULL.  The representation speaks where
 * the walk has come to it. */
static const struct lw_handler *constant_of(const struct lw_walk *walk)
{
    int status = walk->status == 206 ? 200 : walk->status;
    const struct lw_handler *handler = lw_machine_handler(walk->machine, status);
    if (!handler || handler->function || (status == 200 && !lw_walk_is_regular(walk)))
        return NULL;
    return handler;
}

/* The end of a walk at which Lua has nothing to say. */
static void answer_alone(struct lw_request *request)
{
    struct lw_walk *walk = &request->walk;
    add_fields(request);
    if (lw_fields_lack(walk, &request->fields)) {
        say_broken(request);
        lw_walk_end(walk, 500);
    }
    int status = walk->status;
    const struct lw_handler *constant = constant_of(walk);
    if (constant) {
        reply_constant(request, constant);
    } else if (has_default_body(status)) {
        reply_problem(request, status);
    } else {
        struct lw_response response = {.status = status};
        request->ops->reply(request, &response, lw_slice("", 0));
    }
}

/* Content that is too long is not read to keep the connection; nor can it be known whether a
 * client sends its content when what it expects is refused. */
static void obey_limit(struct lw_conn *conn, const struct lw_walk *walk)
{
    bool is_too_long = walk->content.length > walk->content.limit;
    conn->content.limit = walk->content.limit;
    if (walk->status == 417 || (walk->status == 413 && is_too_long))
        conn->content.error = walk->status;
}

uint32_t lw_answer_walk(struct lw_request *request)
{
    struct lw_walk *walk = &request->walk;
    uint32_t function = lw_walk_run(walk);
    if (request->conn)
        obey_limit(request->conn, walk);
    if (function == 0) {
        answer_alone(request);
        return 0;
    }
    if (!walk->is_gate && request->conn && reads_content(walk))
        lw_content_welcome(request->conn);
    return function;
}

void lw_answer_status(struct lw_request *request, int status)
{
    lw_walk_end(&request->walk, status);
    add_fields(request);
    if (has_default_body(status)) {
        reply_problem(request, status);
    } else {
        struct lw_response response = {.status = status};
        request->ops->reply(request, &response, lw_slice("", 0));
    }
}

void lw_answer_busy(struct lw_request *request)
{
    lw_request_field_reset(request);
    lw_request_field(request, LW_SLICE("Retry-After"), LW_SLICE(RETRY_AFTER),
                     LW_MAX_RESPONSE_HEAD);
    lw_answer_status(request, 503);
}

int lw_answer_with(struct lw_request *request, const struct lw_content_of_lua *content,
                   struct lw_response *response)
{
    struct lw_walk *walk = &request->walk;
    if (content->status == 0 && lw_walk_is_plain(walk)) {
        response->status = 200;
        response->length = content->size;
        response->type = content->type;
        if (!content->type.data && content->size != 0)
            response->type = LW_SLICE(TEXT_PLAIN);
        return LUAWEB_REPLY_OK;
    }
    bool is_known = content->size >= 0;
    uint32_t function = lw_walk_reply(walk, content->status,
                                      is_known ? (uint64_t)content->size : 0, is_known);
    if (function)
        return LUAWEB_REPLY_ASK;
    response->status = walk->status;
    response->length = content->size;
    response->type = content->type;
    if (walk->status == 206 && content->status == 0) {
        if (!request->is_parted)
            return lw_parts_begin(request, content->type);
        response->type = request->part_type;
        if (walk->present & LW_HAS_IF_RANGE && !request->has_parts)
            response->type.data = NULL; /* the client has it (RFC 9110 §15.3.7) */
    } else if (walk->status == 416 && content->status == 0) {
        add_fields(request);
        reply_problem(request, 416);
        return LUAWEB_REPLY_NO_BODY;
    } else {
        if (content->size != 0 || content->type.data)
            response->type = lw_fields_type(walk, content->type);
    }
    add_fields(request);
    return LUAWEB_REPLY_OK;
}
