/* SPDX-License-Identifier: MIT
 *
 * Fuzzes traceparent and tracestate: the first line is one, the rest the other.  What is
 * taken can be written again, and one octet more or less of a value of version 00 is
 * malformed.  A tracestate that is taken is taken twice over, as far as it has members
 * for that, and has nothing that would end a line.  W3C Trace Context §3.2, §3.3. */
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "http/request_id.h"
#include "http/trace_context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_hex(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!strchr("0123456789abcdef", text[i]))
            return false;
    return true;
}

static void check_parent(struct luaweb_slice value)
{
    struct luaweb_trace trace;
    memset(&trace, 0, sizeof trace);
    if (!lw_traceparent_read(value, &trace))
        return;
    lw_require(trace.has_parent && trace.flags <= 3 && value.size >= 55);
    lw_require(is_hex(trace.trace_id, 32) && is_hex(trace.parent_id, 16));
    lw_require(memcmp(value.data + 3, trace.trace_id, 32) == 0);
    lw_require(memcmp(value.data + 36, trace.parent_id, 16) == 0);
    char hex[16];
    lw_trace_hex(lw_trace_number(&trace), hex);
    lw_require(memcmp(hex, trace.trace_id + 16, 16) == 0);
    if (memcmp(value.data, "00", 2) == 0)
        lw_require(value.size == 55);
    lw_require(!lw_traceparent_read(lw_slice(value.data, 54), &trace));
}

static void check_state(struct luaweb_slice value)
{
    if (!lw_tracestate_valid(value))
        return;
    for (size_t i = 0; i < value.size; i++)
        lw_require(value.data[i] == '\t'
                   || (value.data[i] >= 0x20 && value.data[i] <= 0x7e));
    char *more = malloc(value.size + 3);
    lw_require(more);
    memcpy(more, value.data, value.size);
    memcpy(more + value.size, ",!=", 3);
    lw_require(lw_tracestate_valid(lw_slice(more, value.size + 1)));
    lw_require(!lw_tracestate_valid(lw_slice(more, value.size + 3)));
    free(more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *end = size > 0 ? memchr(text, '\n', size) : NULL;
    size_t first = end ? (size_t)(end - text) : size;
    check_parent(lw_slice(text, first));
    if (end)
        check_state(lw_slice(end + 1, size - first - 1));
    lw_request_id_valid(lw_slice(text, first));
    return 0;
}
