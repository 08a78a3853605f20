/* SPDX-License-Identifier: MIT
 *
 * W3C Trace Context: the field values of traceparent and tracestate.  Owns nothing.
 * What is malformed counts as not sent.
 * https://www.w3.org/TR/trace-context/ §3.2, §3.3. */
#ifndef LW_HTTP_TRACE_CONTEXT_H
#define LW_HTTP_TRACE_CONTEXT_H

#include "base/abi_trace.h"

/* Reads a traceparent: trace_id, parent_id, has_parent and those flags that are known.
 * false: it is malformed, and `trace` is as it was.  Versions above 00 count as far as
 * they begin as that one does (§4.3). */
bool lw_traceparent_read(struct luaweb_slice value, struct luaweb_trace *trace);

/* Whether a tracestate, all of its lines joined by commas, is well-formed. */
bool lw_tracestate_valid(struct luaweb_slice value);

/* Writes a number as 16 hex digits. */
void lw_trace_hex(uint64_t number, char hex[16]);

/* The number that the last 16 hex digits of a trace id are; by which it is sampled. */
uint64_t lw_trace_number(const struct luaweb_trace *trace);

#endif
