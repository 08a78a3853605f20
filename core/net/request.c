/* SPDX-License-Identifier: MIT
 *
 * The pool of requests, keeping a head, and the decoded views of query and cookies. */
#include "net/request.h"

#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "http/cookie.h"
#include "http/fields.h"
#include "http/percent.h"
#include "http/query.h"
#include "http/reply.h"
#include "net/access_log.h"
#include "net/dev.h"
#include "net/loop.h"
#include "net/tracer.h"

static struct lw_request *construct(struct lw_loop *loop, struct lw_owner *owner)
{
    struct lw_request *request = lw_alloc(sizeof *request);
    memset(request, 0, sizeof *request);
    lw_arena_construct(&request->arena);
    request->loop = loop;
    request->facts.slot = lw_loop_add_id(loop, owner, LW_ID_REQUEST, request);
    return request;
}

struct lw_request *lw_request_new(struct lw_loop *loop, const struct lw_site *site)
{
    struct lw_request *request = loop->free_requests;
    if (request)
        loop->free_requests = request->next_free;
    else
        request = construct(loop, site->owner);
    loop->ids[request->facts.slot].owner = site->owner;
    site->owner->request_count++;
    request->app = site->app;
    request->next_free = NULL;
    request->facts.id = ++loop->request_count;
    request->declared_length = -1;
    return request;
}

/* Clears what a request does not set for itself when it begins, field by field: zeroing
 * the rest as well would cost twice as much. */
static void forget(struct lw_request *request)
{
    request->facts.headers = request->facts.trailers = (struct luaweb_fields){NULL, 0};
    request->facts.params = (struct luaweb_params){NULL, 0};
    request->walk.machine = NULL;
    request->walk.trace = NULL;
    request->walk.facts = request->walk.status = 0;
    request->ops = NULL;
    request->conn = NULL;
    request->head = request->resource = (struct luaweb_slice){NULL, 0};
    request->began_ns = request->sent = 0;
    request->status = 0;
    request->is_kept = request->is_started = false;
    request->is_parted = request->has_parts = false;
    request->has_type = request->has_date = request->wants_close = false;
    request->waits_for_content = request->waits_for_room = false;
    request->is_given = request->is_asked = request->is_unlogged = request->knows_gone =
        false;
    request->has_query = request->has_cookies = false;
    request->has_trace = request->is_cut = false;
}

void lw_request_disarm(struct lw_request *request)
{
    if (request->deadline.kind != LW_DEADLINE_NONE)
        lw_deadline_arm(&request->loop->deadlines, &request->deadline,
                        LW_DEADLINE_NONE);
}

void lw_request_end(struct lw_request *request)
{
    struct lw_loop *loop = request->loop;
    if (request->waits_for_content || request->waits_for_room)
        lw_loop_wake(loop, request->facts.slot); /* jobs learn of the end */
    if (request->ops && !request->conn)
        lw_loop_count_orphan(loop, -1);
    loop->tally.running -= request->is_asked;
    loop->ids[request->facts.slot].owner->request_count--;
    lw_request_disarm(request);
    lw_buffer_release(&request->fields, &loop->blocks);
    lw_arena_reset(&request->arena);
    request->facts.generation++;
    forget(request);
    request->next_free = loop->free_requests;
    loop->free_requests = request;
}

static struct luaweb_slice value_of(const struct lw_request *request,
                                    struct luaweb_slice name)
{
    const struct luaweb_fields *headers = &request->facts.headers;
    const struct luaweb_field *field =
        lw_fields_find(headers->list, headers->count, name);
    return field ? field->value : lw_slice("", 0);
}

/* Apart, so that without a log nothing is made ready for it. */
static __attribute__((noinline)) void add_to_log(const struct lw_request *request)
{
    struct lw_loop *loop = request->loop;
    char id[LW_ID_SIZE];
    uint64_t duration_ns = uv_hrtime() - request->began_ns;
    size_t id_size = lw_request_id(request, id);
    struct lw_access access = {
        .time_ms = lw_loop_time_ms() - (int64_t)(duration_ns / 1000000),
        .id = lw_slice(id, id_size),
        .trace = lw_slice(request->trace.trace_id,
                          request->has_trace ? sizeof request->trace.trace_id : 0),
        .peer = request->facts.peer,
        .method = request->facts.method,
        .target = request->facts.target,
        .referer = value_of(request, LW_SLICE("Referer")),
        .user_agent = value_of(request, LW_SLICE("User-Agent")),
        .resource = request->resource,
        .minor_version = request->facts.minor_version,
        .status = request->status,
        .octets = request->sent,
        .duration_us = duration_ns / 1000,
    };
    lw_access_log_add(loop->access_log, &access);
}

void lw_request_log(struct lw_request *request)
{
    bool is_own = request->loop->dev && lw_dev_is_own(request);
    uint32_t key = request->key | (uint32_t)request->status;
    lw_tally_end(&request->loop->tally, key, request->began_ns);
    bool is_told = !is_own && !request->is_unlogged;
    if (request->loop->keeps_spans && is_told)
        lw_tracer_add(request);
    if (request->loop->access_log && is_told)
        add_to_log(request);
    if (request->loop->dev)
        lw_dev_end(request);
}

void lw_request_free_all(struct lw_loop *loop)
{
    for (uint32_t id = 0; id < loop->id_count; id++) {
        struct lw_request *request = lw_loop_find_id(loop, LW_ID_REQUEST, id);
        if (!request)
            continue;
        lw_buffer_release(&request->fields, &loop->blocks);
        lw_arena_destruct(&request->arena);
        free(request);
    }
}

/* Those that nobody serves any more have no operations. */
void lw_request_end_owner(struct lw_loop *loop, const struct lw_owner *owner)
{
    for (uint32_t id = 0; id < loop->id_count; id++) {
        struct lw_request *request = lw_loop_find_own(loop, owner, LW_ID_REQUEST, id);
        if (request && request->ops)
            lw_request_end(request);
    }
}

static void move(struct luaweb_slice *slice, struct luaweb_slice from, const char *to)
{
    uintptr_t at = (uintptr_t)slice->data;
    uintptr_t base = (uintptr_t)from.data;
    if (at >= base && at - base <= from.size)
        slice->data = to + (at - base);
}

void lw_request_keep(struct lw_request *request)
{
    if (request->is_kept)
        return;
    request->is_kept = true;
    struct luaweb_slice from = request->head;
    char *to = lw_arena_alloc(&request->arena, from.size);
    memcpy(to, from.data, from.size);
    struct luaweb_request *facts = &request->facts;
    struct luaweb_slice *slices[] = {&facts->method, &facts->target, &facts->scheme,
                                     &facts->host,   &facts->path,   &facts->query};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        move(slices[i], from, to);
    /* The fields lie in our arena: ours to change. */
    struct luaweb_field *fields = (struct luaweb_field *)facts->headers.list;
    for (uint32_t i = 0; i < facts->headers.count; i++) {
        move(&fields[i].name, from, to);
        move(&fields[i].value, from, to);
    }
    request->head = lw_slice(to, from.size);
}

/* A list that grows in the arena; what it outgrows is lost until the reset. */
struct pairs {
    struct lw_arena *arena;
    struct luaweb_field *list;
    uint32_t count;
    uint32_t capacity;
};

static struct luaweb_field *push(struct pairs *pairs)
{
    if (pairs->count == pairs->capacity) {
        uint32_t capacity = pairs->capacity ? pairs->capacity * 2 : 8;
        struct luaweb_field *list =
            lw_arena_alloc(pairs->arena, capacity * sizeof *list);
        if (pairs->count)
            memcpy(list, pairs->list, pairs->count * sizeof *list);
        pairs->list = list;
        pairs->capacity = capacity;
    }
    return &pairs->list[pairs->count++];
}

static struct luaweb_slice decode(struct lw_arena *arena, struct luaweb_slice raw)
{
    char *out = lw_arena_alloc(arena, raw.size);
    return lw_slice(out, lw_percent_decode_form(raw, out));
}

struct luaweb_fields lw_request_query(struct lw_request *request)
{
    if (request->has_query)
        return request->query;
    struct pairs pairs = {.arena = &request->arena};
    struct luaweb_slice rest = request->facts.query;
    struct luaweb_field raw;
    while (lw_query_next(&rest, &raw)) {
        struct luaweb_field *pair = push(&pairs);
        pair->name = decode(pairs.arena, raw.name);
        pair->value = decode(pairs.arena, raw.value);
    }
    request->has_query = true;
    request->query = (struct luaweb_fields){pairs.list, pairs.count};
    return request->query;
}

struct luaweb_fields lw_request_cookies(struct lw_request *request)
{
    if (request->has_cookies)
        return request->cookies;
    lw_request_keep(request); /* cookies point into the head */
    struct pairs pairs = {.arena = &request->arena};
    const struct luaweb_fields *headers = &request->facts.headers;
    for (uint32_t i = 0; i < headers->count; i++) {
        if (!lw_field_is(&headers->list[i], LW_HAS_COOKIE))
            continue;
        struct luaweb_slice rest = headers->list[i].value;
        struct luaweb_field raw;
        while (lw_cookie_next(&rest, &raw))
            *push(&pairs) = raw;
    }
    request->has_cookies = true;
    request->cookies = (struct luaweb_fields){pairs.list, pairs.count};
    return request->cookies;
}

static int add_line(struct lw_request *request, struct luaweb_slice name,
                    struct luaweb_slice value, size_t limit)
{
    size_t size = lw_buffer_size(&request->fields);
    if (name.size > limit || value.size > limit
        || size + name.size + value.size > limit)
        return LUAWEB_REPLY_TOO_LARGE;
    lw_reply_line(&request->fields, &request->loop->blocks, name, value);
    return LUAWEB_REPLY_OK;
}

static double read_length(struct luaweb_slice value)
{
    double length = 0;
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] < '0' || value.data[i] > '9')
            return -1;
        length = length * 10 + (value.data[i] - '0');
    }
    return value.size > 0 && length <= 9007199254740992.0 ? length : -1;
}

int lw_request_field(struct lw_request *request, struct luaweb_slice name,
                     struct luaweb_slice value, size_t limit)
{
    enum lw_reply_field kind = lw_reply_judge(name, value);
    bool is_trailer = request->is_started;
    switch (kind) {
    case LW_REPLY_FIELD_BAD_NAME: return LUAWEB_REPLY_BAD_NAME;
    case LW_REPLY_FIELD_BAD_VALUE: return LUAWEB_REPLY_BAD_VALUE;
    case LW_REPLY_FIELD_DROPPED: return LUAWEB_REPLY_OK;
    case LW_REPLY_FIELD_CLOSE: request->wants_close = true; return LUAWEB_REPLY_OK;
    case LW_REPLY_FIELD_LENGTH:
        if (!is_trailer)
            request->declared_length = read_length(lw_slice_trim(value));
        return LUAWEB_REPLY_OK;
    case LW_REPLY_FIELD_TYPE:
        if (is_trailer || request->has_type)
            return LUAWEB_REPLY_OK;
        request->has_type = true;
        break;
    case LW_REPLY_FIELD_DATE:
        if (is_trailer || request->has_date)
            return LUAWEB_REPLY_OK;
        request->has_date = true;
        break;
    case LW_REPLY_FIELD_PLAIN: break;
    }
    return add_line(request, name, value, limit);
}

void lw_request_field_reset(struct lw_request *request)
{
    lw_buffer_release(&request->fields, &request->loop->blocks);
    request->has_type = request->has_date = request->wants_close = false;
    request->declared_length = -1;
}
