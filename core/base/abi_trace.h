/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua: which trace a request is part of (W3C Trace Context),
 * and the requests that have ended, for who sends spans to a collector.  For the rules,
 * see abi.h.
 */

#ifndef LW_BASE_ABI_TRACE_H
#define LW_BASE_ABI_TRACE_H

#include "base/abi.h"

/* Ids as lower-case hex digits, without a NUL. */
struct luaweb_trace {
    char trace_id[32];
    char span_id[16];    /* of what is traced here */
    char parent_id[16];  /* of who asked for it; zeros: nobody */
    uint32_t has_parent; /* it came with the request */
    uint32_t flags;      /* enum luaweb_trace_flag */
};

enum luaweb_trace_flag {
    LUAWEB_TRACE_SAMPLED = 1, /* its spans are recorded */
    LUAWEB_TRACE_RANDOM = 2   /* whoever began it made its id at random */
};

/* The trace of a request: the client's where it has sent a sound traceparent, else a
 * new one.  The same each time.  false: the request has ended. */
bool luaweb_trace(struct luaweb_host *host, struct luaweb_request *request,
                  uint32_t generation, struct luaweb_trace *trace);

/* A new trace, outside of any request. */
void luaweb_trace_begin(struct luaweb_host *host, struct luaweb_trace *trace);

/* The id of another span. */
void luaweb_span_id(struct luaweb_host *host, char id[16]);

/* Whether a tracestate may go on: at most 32 members, each well-formed. */
bool luaweb_tracestate(struct luaweb_host *host, const char *text, size_t size);

/* Nanoseconds since 1970. */
uint64_t luaweb_time_ns(struct luaweb_host *host);

/* Which traces are sampled. */
struct luaweb_sampling {
    double ratio;          /* 0..1 of the traces that begin here */
    uint32_t heeds_parent; /* a trace that came is sampled as its flag says */
};

/* Has spans of all requests that are sampled kept from now on, until they are taken.
 * Each host that has started stops; the sampling is that of the last one. */
void luaweb_spans_start(struct luaweb_host *host,
                        const struct luaweb_sampling *sampling);
void luaweb_spans_stop(struct luaweb_host *host);

enum luaweb_span_part {
    LUAWEB_SPAN_ID, /* the request's */
    LUAWEB_SPAN_METHOD,
    LUAWEB_SPAN_PATH,
    LUAWEB_SPAN_ROUTE, /* the template; empty: no resource has that path */
    LUAWEB_SPAN_SCHEME,
    LUAWEB_SPAN_HOST,
    LUAWEB_SPAN_PEER,
    LUAWEB_SPAN_AGENT,
    LUAWEB_SPAN_PARTS
};

enum luaweb_span_limit {
    LUAWEB_SPANS = 2048,    /* that wait to be taken; more are lost */
    LUAWEB_SPAN_TEXT = 768, /* octets of all parts of one */
    LUAWEB_SPAN_PART = 256  /* octets of one part, above which it is cut */
};

/* A request that has ended. */
struct luaweb_span {
    struct luaweb_trace trace;
    uint64_t began_ns; /* since 1970 */
    uint64_t took_ns;
    uint64_t sent;   /* octets of content */
    uint32_t status; /* 0: no answer was begun */
    uint32_t is_cut; /* the answer has not come to its end */
    uint32_t minor_version;
    uint16_t sizes[8]; /* of the parts, which stand one behind the other */
    char text[768];
};

/* Takes the oldest.  false: there is none. */
bool luaweb_span_take(struct luaweb_host *host, struct luaweb_span *span);

/* How many were lost because too many waited. */
double luaweb_spans_lost(struct luaweb_host *host);

#endif
