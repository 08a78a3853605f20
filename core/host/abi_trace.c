/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions of base/abi_trace.h. */
#include "base/abi_trace.h"

#include "base/slice.h"
#include "host/vm.h"
#include "http/trace_context.h"
#include "net/request.h"
#include "net/tracer.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT bool luaweb_trace(struct luaweb_host *host, struct luaweb_request *facts,
                         uint32_t generation, struct luaweb_trace *trace)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    if (request)
        *trace = *lw_tracer_of(request);
    return request != NULL;
}

EXPORT void luaweb_trace_begin(struct luaweb_host *host, struct luaweb_trace *trace)
{
    lw_tracer_begin(host->loop, trace);
}

EXPORT void luaweb_span_id(struct luaweb_host *host, char id[16])
{
    lw_tracer_span_id(host->loop, id);
}

EXPORT bool luaweb_tracestate(struct luaweb_host *host, const char *text, size_t size)
{
    (void)host;
    return lw_tracestate_valid(lw_slice(text, size));
}

EXPORT uint64_t luaweb_time_ns(struct luaweb_host *host)
{
    (void)host;
    return lw_tracer_time_ns();
}

EXPORT void luaweb_spans_start(struct luaweb_host *host,
                               const struct luaweb_sampling *sampling)
{
    struct luaweb_sampling checked = *sampling;
    if (!(checked.ratio >= 0)) /* no number, either */
        checked.ratio = 0;
    if (checked.ratio > 1)
        checked.ratio = 1;
    if (host->keeps_spans)
        lw_tracer_stop(host->loop);
    host->keeps_spans = true;
    lw_tracer_start(host->loop, &checked);
}

EXPORT void luaweb_spans_stop(struct luaweb_host *host)
{
    if (host->keeps_spans)
        lw_tracer_stop(host->loop);
    host->keeps_spans = false;
}

EXPORT bool luaweb_span_take(struct luaweb_host *host, struct luaweb_span *span)
{
    return lw_tracer_take(host->loop, span);
}

EXPORT double luaweb_spans_lost(struct luaweb_host *host)
{
    return (double)lw_tracer_lost(host->loop);
}
