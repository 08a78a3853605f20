/* SPDX-License-Identifier: MIT
 *
 * Which trace each request is part of, found out when somebody asks, and the ring of
 * requests that have ended and wait for who sends them to a collector.  Nothing is kept
 * unless it was started. */
#ifndef LW_NET_TRACER_H
#define LW_NET_TRACER_H

#include "base/abi_trace.h"

struct lw_loop;
struct lw_request;
struct lw_tracer;

/* The trace of a request, lent until it ends: the same each time. */
const struct luaweb_trace *lw_tracer_of(struct lw_request *request);

/* A new trace; and the id of another span, as 16 hex digits. */
void lw_tracer_begin(struct lw_loop *loop, struct luaweb_trace *trace);
void lw_tracer_span_id(struct lw_loop *loop, char id[16]);

/* Has requests kept when they end (loop->keeps_spans), until it was stopped as often as
 * started; the sampling is that of the last start. */
void lw_tracer_start(struct lw_loop *loop, const struct luaweb_sampling *sampling);
void lw_tracer_stop(struct lw_loop *loop);

/* Keeps a request that ends, where its trace is sampled.  Only while it is started. */
void lw_tracer_add(struct lw_request *request);

/* Takes the oldest; false: there is none. */
bool lw_tracer_take(struct lw_loop *loop, struct luaweb_span *span);

/* How many found the ring full. */
uint64_t lw_tracer_lost(const struct lw_loop *loop);

/* Nanoseconds since 1970. */
uint64_t lw_tracer_time_ns(void);

/* At the end of the loop. */
void lw_tracer_free(struct lw_loop *loop);

#endif
