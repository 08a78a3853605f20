/* SPDX-License-Identifier: MIT
 *
 * Traces of requests, and the ring of spans. */
#include "net/tracer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/require.h"
#include "base/slice.h"
#include "http/fields.h"
#include "http/request_id.h"
#include "http/trace_context.h"
#include "net/loop.h"
#include "net/request.h"

struct lw_tracer {
    uint64_t random[2];       /* never both 0 */
    struct luaweb_span *ring; /* LUAWEB_SPANS; owned; NULL: not started */
    uint32_t first;
    uint32_t count;
    uint64_t bound; /* a trace that begins here is sampled below this number */
    bool heeds_parent;
    uint32_t starts; /* that were not stopped */
    uint64_t lost;
};

static struct lw_tracer *tracer_of(struct lw_loop *loop)
{
    struct lw_tracer *tracer = loop->tracer;
    if (tracer)
        return tracer;
    tracer = lw_alloc(sizeof *tracer);
    memset(tracer, 0, sizeof *tracer);
    if (uv_random(NULL, NULL, tracer->random, sizeof tracer->random, 0, NULL) != 0)
        tracer->random[0] = uv_hrtime();
    tracer->random[1] |= 1;
    loop->tracer = tracer;
    return tracer;
}

static uint64_t rotate(uint64_t number, int count)
{
    return number << count | number >> (64 - count);
}

/* xoroshiro128+: ids must differ, not be secret, and asking the system for each would
 * take longer than all else here. */
static uint64_t draw(struct lw_tracer *tracer)
{
    uint64_t *state = tracer->random;
    uint64_t result = state[0] + state[1];
    uint64_t mixed = state[0] ^ state[1];
    state[0] = rotate(state[0], 24) ^ mixed ^ mixed << 16;
    state[1] = rotate(mixed, 37);
    return result;
}

/* An id that is all zeros is none. */
static uint64_t draw_id(struct lw_tracer *tracer)
{
    uint64_t id;
    do
        id = draw(tracer);
    while (id == 0);
    return id;
}

/* As all SDKs of OpenTelemetry do, so that two servers with one ratio agree. */
static bool is_sampled(const struct lw_tracer *tracer, const struct luaweb_trace *trace)
{
    if (trace->has_parent && (tracer->heeds_parent || !tracer->ring))
        return trace->flags & LUAWEB_TRACE_SAMPLED;
    return tracer->ring && lw_trace_number(trace) >> 1 < tracer->bound;
}

static void decide(const struct lw_tracer *tracer, struct luaweb_trace *trace)
{
    uint32_t others = trace->flags & ~(uint32_t)LUAWEB_TRACE_SAMPLED;
    trace->flags = others | (is_sampled(tracer, trace) ? LUAWEB_TRACE_SAMPLED : 0);
}

/* LUAWEB_TRACE_RANDOM is not claimed: it is of level 2, and there are receivers that
 * take a traceparent of version 00 with such a flag for malformed. */
void lw_tracer_begin(struct lw_loop *loop, struct luaweb_trace *trace)
{
    struct lw_tracer *tracer = tracer_of(loop);
    memset(trace->parent_id, '0', sizeof trace->parent_id);
    lw_trace_hex(draw(tracer), trace->trace_id);
    lw_trace_hex(draw_id(tracer), trace->trace_id + 16);
    lw_trace_hex(draw_id(tracer), trace->span_id);
    trace->has_parent = trace->flags = 0;
    decide(tracer, trace);
}

void lw_tracer_span_id(struct lw_loop *loop, char id[16])
{
    lw_trace_hex(draw_id(tracer_of(loop)), id);
}

/* The client's traceparent: one line; several are none. */
static bool read_parent(const struct lw_request *request, struct luaweb_trace *trace)
{
    const struct luaweb_fields *headers = &request->facts.headers;
    const struct luaweb_field *found = NULL;
    for (uint32_t i = 0; i < headers->count; i++) {
        if (!lw_slice_equal_nocase(headers->list[i].name, LW_SLICE("traceparent")))
            continue;
        if (found)
            return false;
        found = &headers->list[i];
    }
    return found && lw_traceparent_read(found->value, trace);
}

const struct luaweb_trace *lw_tracer_of(struct lw_request *request)
{
    struct luaweb_trace *trace = &request->trace;
    if (request->has_trace)
        return trace;
    request->has_trace = true;
    struct lw_tracer *tracer = tracer_of(request->loop);
    if (!read_parent(request, trace)) {
        lw_tracer_begin(request->loop, trace);
        return trace;
    }
    lw_trace_hex(draw_id(tracer), trace->span_id);
    decide(tracer, trace);
    return trace;
}

void lw_tracer_start(struct lw_loop *loop, const struct luaweb_sampling *sampling)
{
    struct lw_tracer *tracer = tracer_of(loop);
    tracer->starts++;
    if (!tracer->ring)
        tracer->ring = lw_alloc(LUAWEB_SPANS * sizeof *tracer->ring);
    tracer->bound = (uint64_t)(sampling->ratio * 9223372036854775808.0);
    tracer->heeds_parent = sampling->heeds_parent;
    loop->keeps_spans = true;
}

void lw_tracer_stop(struct lw_loop *loop)
{
    struct lw_tracer *tracer = loop->tracer;
    lw_require(tracer && tracer->starts > 0);
    if (--tracer->starts > 0)
        return;
    free(tracer->ring);
    tracer->ring = NULL;
    tracer->first = tracer->count = 0;
    loop->keeps_spans = false;
}

uint64_t lw_tracer_time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Appends a part, cut where it is too long. */
static void put(struct luaweb_span *span, size_t *at, enum luaweb_span_part part,
                struct luaweb_slice text)
{
    size_t room = sizeof span->text - *at;
    size_t size = text.size < LUAWEB_SPAN_PART ? text.size : LUAWEB_SPAN_PART;
    size = size < room ? size : room;
    if (size > 0)
        memcpy(span->text + *at, text.data, size);
    span->sizes[part] = (uint16_t)size;
    *at += size;
}

static struct luaweb_slice agent_of(const struct luaweb_fields *headers)
{
    const struct luaweb_field *field =
        lw_fields_find(headers->list, headers->count, LW_SLICE("User-Agent"));
    return field ? field->value : lw_slice("", 0);
}

static void write_parts(const struct lw_request *request, struct luaweb_span *span)
{
    static_assert(sizeof span->sizes / sizeof *span->sizes == LUAWEB_SPAN_PARTS,
                  "abi_trace.h: a size for each part");
    static_assert(sizeof span->text == LUAWEB_SPAN_TEXT, "abi_trace.h: its text");
    const struct luaweb_request *facts = &request->facts;
    char id[LW_ID_SIZE];
    lw_request_id(request, id);
    size_t at = 0;
    put(span, &at, LUAWEB_SPAN_ID, lw_slice(id, strlen(id)));
    put(span, &at, LUAWEB_SPAN_METHOD, facts->method);
    put(span, &at, LUAWEB_SPAN_PATH, facts->path);
    put(span, &at, LUAWEB_SPAN_ROUTE, request->resource);
    put(span, &at, LUAWEB_SPAN_SCHEME, facts->scheme);
    put(span, &at, LUAWEB_SPAN_HOST, facts->host);
    put(span, &at, LUAWEB_SPAN_PEER, facts->peer);
    put(span, &at, LUAWEB_SPAN_AGENT, agent_of(&facts->headers));
}

void lw_tracer_add(struct lw_request *request)
{
    struct lw_tracer *tracer = request->loop->tracer;
    const struct luaweb_trace *trace = lw_tracer_of(request);
    if (!(trace->flags & LUAWEB_TRACE_SAMPLED))
        return;
    if (tracer->count == LUAWEB_SPANS) {
        tracer->lost++;
        return;
    }
    uint32_t at = (tracer->first + tracer->count++) % LUAWEB_SPANS;
    struct luaweb_span *span = &tracer->ring[at];
    span->trace = *trace;
    span->took_ns = request->began_ns ? uv_hrtime() - request->began_ns : 0;
    span->began_ns = lw_tracer_time_ns() - span->took_ns;
    span->sent = request->sent;
    span->status = (uint32_t)request->status;
    span->is_cut = request->is_cut;
    span->minor_version = request->facts.minor_version;
    write_parts(request, span);
}

bool lw_tracer_take(struct lw_loop *loop, struct luaweb_span *span)
{
    struct lw_tracer *tracer = loop->tracer;
    if (!tracer || tracer->count == 0)
        return false;
    *span = tracer->ring[tracer->first];
    tracer->first = (tracer->first + 1) % LUAWEB_SPANS;
    tracer->count--;
    return true;
}

uint64_t lw_tracer_lost(const struct lw_loop *loop)
{
    return loop->tracer ? loop->tracer->lost : 0;
}

void lw_tracer_free(struct lw_loop *loop)
{
    if (!loop->tracer)
        return;
    free(loop->tracer->ring);
    free(loop->tracer);
    loop->tracer = NULL;
}
