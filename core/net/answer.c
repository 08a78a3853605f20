/* SPDX-License-Identifier: MIT
 *
 * Running walks and composing what they end in (RFC 9110 §10.1.1, §15; RFC 9457). */
#include "net/answer.h"

#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/slice.h"
#include "http/fields.h"
#include "http/problem.h"
#include "machine/detail.h"
#include "machine/field_lines.h"
#include "machine/fields.h"
#include "net/conn.h"
#include "net/loop.h"
#include "net/parts.h"

#define TEXT_PLAIN "text/plain; charset=utf-8"

/* Whether the client waits for leave to send content that will be read (RFC 9110
 * §10.1.1): it is given when the walk comes to where content may be read. */
static bool reads_content(const struct lw_walk *walk)
{
    const struct lw_row *row = &walk->machine->graph->rows[walk->row];
    bool is_asked = !walk->is_gate && !(walk->at & LW_TERMINAL);
    return is_asked && row->given.flags & LUAWEB_ROW_READS;
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

/* The same field lines will choose the same among the same offers. */
static void keep_choice(struct lw_request *request)
{
    const struct lw_walk *walk = &request->walk;
    if (!request->conn || walk->machine->asks & (LW_OFFERS | 1U << LUAWEB_STRICT))
        return;
    struct lw_choice *choice = &request->conn->choice;
    choice->machine = walk->machine;
    memcpy(choice->accepted, walk->accepted, sizeof choice->accepted);
}

static void add_fields(struct lw_request *request, bool is_problem)
{
    if (!request->walk.machine)
        return;
    lw_fields_write(&request->walk, is_problem, &request->fields,
                    &request->loop->blocks);
    if (request->walk.machine->has & LW_OFFERS)
        keep_choice(request);
}

/* What the app has written as the type of content that it did not give is not that of
 * ours. */
static void drop_type(struct lw_request *request)
{
    if (request->has_type)
        lw_lines_take(&request->fields, "Content-Type", &request->arena);
    request->has_type = false;
}

static void reply_problem(struct lw_request *request, int status)
{
    struct lw_problem problem;
    struct luaweb_slice detail = lw_slice("", 0), shown = detail;
    char id[LW_ID_SIZE];
    if (request->walk.machine)
        detail = lw_detail(&request->walk);
    if (lw_request_shows_id(request, status))
        shown = lw_slice(id, lw_request_id(request, id));
    drop_type(request);
    struct lw_response response = {.status = status};
    lw_problem_write(request->facts.headers, status, detail, shown, &problem);
    response.type = problem.type;
    request->ops->reply(request, &response, lw_slice(problem.text, problem.size));
}

/* Which statuses are explained by a short body, where nobody else speaks. */
static bool has_default_body(int status)
{
    return status >= 300 && status != 304;
}

/* The type of a 206: none where the client has it from before (RFC 9110 §15.3.7). */
static struct luaweb_slice type_of_part(const struct lw_request *request,
                                        struct luaweb_slice type)
{
    bool is_told = request->walk.present & LW_HAS_IF_RANGE && !request->has_parts;
    return is_told ? lw_slice(NULL, 0) : type;
}

static void reply_constant(struct lw_request *request, const struct lw_handler *handler)
{
    struct lw_walk *walk = &request->walk;
    struct lw_response response = {.status = walk->status};
    struct luaweb_slice text = handler->text;
    struct luaweb_slice given = handler->type;
    drop_type(request);
    if (given.size == 0)
        given.data = NULL;
    response.type = lw_fields_type(walk, given);
    if (walk->status == 206) {
        text = lw_parts_cut(request, text, &response.type);
        response.type = type_of_part(request, response.type);
    }
    request->ops->reply(request, &response, text);
}

/* The constant that speaks at the end of a walk, or NULL.  The representation speaks
 * where the walk has come to it. */
static const struct lw_handler *constant_of(const struct lw_walk *walk)
{
    int status = walk->status == 206 ? 200 : walk->status;
    const struct lw_handler *handler = lw_machine_handler(walk->machine, status);
    bool is_silent =
        status == 200 && (walk->facts & LW_FACT_EMPTY || !lw_walk_is_regular(walk));
    return handler && !handler->function && !is_silent ? handler : NULL;
}

/* Whether the content is the short one that explains the status. */
static bool is_problem(const struct lw_walk *walk)
{
    return has_default_body(walk->status) && !constant_of(walk);
}

/* Whether the response lacks what its status needs: then it is the app's fault, and
 * what was to be said with it is not. */
static bool is_broken(struct lw_request *request)
{
    if (!lw_fields_lack(&request->walk, &request->fields))
        return false;
    say_broken(request);
    lw_request_field_reset(request);
    lw_walk_end(&request->walk, 500);
    add_fields(request, is_problem(&request->walk));
    return true;
}

/* Says what C can say at the end of a walk; the fields are there. */
static void speak(struct lw_request *request)
{
    int status = request->walk.status;
    const struct lw_handler *constant = constant_of(&request->walk);
    if (constant) {
        reply_constant(request, constant);
    } else if (is_problem(&request->walk)) {
        reply_problem(request, status);
    } else {
        struct lw_response response = {.status = status};
        request->ops->reply(request, &response, lw_slice("", 0));
    }
}

/* The end of a walk at which Lua has nothing to say. */
static void answer_alone(struct lw_request *request)
{
    add_fields(request, is_problem(&request->walk));
    is_broken(request);
    speak(request);
}

/* Content that is too long is not read to keep the connection; nor can it be known
 * whether a client sends its content when what it expects is refused. */
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
    if (request->conn && reads_content(walk))
        lw_content_welcome(request->conn);
    return function;
}

void lw_answer_status(struct lw_request *request, int status)
{
    lw_walk_end(&request->walk, status);
    add_fields(request, has_default_body(status));
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
    lw_request_field(request, LW_SLICE("Retry-After"), LW_SLICE(LW_RETRY_AFTER),
                     LW_MAX_RESPONSE_HEAD);
    lw_answer_status(request, 503);
}

void lw_answer_failure(struct lw_request *request)
{
    if (!request->conn || request->is_started) {
        request->ops->abort(request);
        return;
    }
    lw_request_field_reset(request);
    lw_answer_status(request, 500);
}

/* No range fits what Lua has made: its fields are not those of what speaks of that. */
static int refuse_range(struct lw_request *request)
{
    struct lw_walk *walk = &request->walk;
    const struct lw_handler *handler = lw_machine_handler(walk->machine, walk->status);
    lw_request_field_reset(request);
    walk->facts &= (uint16_t)~LW_FACT_REPLYING;
    walk->function = handler ? handler->function : 0;
    if (walk->function)
        return LUAWEB_REPLY_INSTEAD;
    answer_alone(request);
    return LUAWEB_REPLY_NO_BODY;
}

/* A read to which the machine adds nothing. */
static int answer_plain(const struct lw_content_of_lua *content,
                        struct lw_response *response)
{
    response->status = 200;
    response->length = content->size;
    response->type = content->type;
    if (!content->type.data && content->size != 0)
        response->type = LW_SLICE(TEXT_PLAIN);
    return LUAWEB_REPLY_OK;
}

int lw_answer_with(struct lw_request *request, const struct lw_content_of_lua *content,
                   struct lw_response *response)
{
    struct lw_walk *walk = &request->walk;
    if (content->status == 0 && lw_walk_is_plain(walk))
        return answer_plain(content, response);
    bool is_known = content->size >= 0;
    if (!(walk->facts & LW_FACT_REPLYING))
        request->is_of_end = walk->at & LW_TERMINAL;
    uint32_t function = lw_walk_reply(walk, content->status,
                                      is_known ? (uint64_t)content->size : 0, is_known);
    if (function)
        return LUAWEB_REPLY_ASK;
    response->status = walk->status;
    response->length = content->size;
    response->type = content->type;
    if (walk->status == 206 && content->status != 206) { /* else the app made it */
        if (!request->is_parted)
            return lw_parts_begin(request, content->type);
        response->type = type_of_part(request, request->part_type);
    } else if (walk->status == 416 && content->status != 416 && !request->is_of_end) {
        return refuse_range(request);
    } else if (content->size != 0 || content->type.data) {
        response->type = lw_fields_type(walk, content->type);
    }
    add_fields(request, false);
    if (!is_broken(request))
        return LUAWEB_REPLY_OK;
    speak(request);
    return LUAWEB_REPLY_NO_BODY;
}
