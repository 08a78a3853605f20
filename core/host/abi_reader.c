/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions by which Lua reads responses (base/abi_reader.h): for the
 * rules, see abi.c. */
#include <assert.h>

#include "base/abi_reader.h"
#include "base/slice.h"
#include "host/vm.h"
#include "http/reader.h"

#define EXPORT __attribute__((visibility("default")))

static_assert((int)LUAWEB_READER_CODINGS == LW_DECODE_DEPTH, "one limit");

EXPORT struct luaweb_reader *luaweb_reader_new(struct luaweb_host *host,
                                               uint32_t max_head, uint32_t max_fields)
{
    (void)host;
    struct lw_fields_limits limits = {max_head, max_fields};
    return lw_reader_new(&limits);
}

EXPORT void luaweb_reader_free(struct luaweb_host *host, struct luaweb_reader *reader)
{
    (void)host;
    lw_reader_free(reader);
}

EXPORT void luaweb_reader_begin(struct luaweb_host *host, struct luaweb_reader *reader,
                                const char *method, size_t size, bool switches)
{
    (void)host;
    lw_reader_begin(reader, lw_slice(method, size), switches);
}

EXPORT uint32_t luaweb_reader_feed(struct luaweb_host *host,
                                   struct luaweb_reader *reader, const char *data,
                                   size_t size)
{
    (void)host;
    return lw_reader_feed(reader, lw_slice(data, size));
}

EXPORT void luaweb_reader_end(struct luaweb_host *host, struct luaweb_reader *reader,
                              bool is_lost)
{
    (void)host;
    lw_reader_end(reader, is_lost);
}

EXPORT int luaweb_reader_head(struct luaweb_host *host, struct luaweb_reader *reader,
                              struct luaweb_response_head *head)
{
    (void)host;
    return lw_reader_head(reader, head);
}

/* Lua's numbers may be more than an integer holds, or none. */
static uint64_t limit_of(double number)
{
    const double most = 9007199254740992.0; /* 2^53 */
    if (!(number < most))
        return (uint64_t)most;
    return number > 0 ? (uint64_t)number : 0;
}

EXPORT bool luaweb_reader_decode(struct luaweb_host *host, struct luaweb_reader *reader,
                                 const char *codings, size_t size, double limit,
                                 double ratio)
{
    (void)host;
    struct lw_decoder_limits limits = {limit_of(limit), limit_of(ratio)};
    return lw_reader_decode(reader, lw_slice(codings, size), &limits);
}

EXPORT int luaweb_reader_body(struct luaweb_host *host, struct luaweb_reader *reader,
                              struct luaweb_slice *piece)
{
    (void)host;
    return lw_reader_body(reader, piece);
}

EXPORT void luaweb_reader_trailers(struct luaweb_host *host,
                                   struct luaweb_reader *reader,
                                   struct luaweb_fields *trailers)
{
    (void)host;
    *trailers = lw_reader_trailers(reader);
}

EXPORT void luaweb_reader_rest(struct luaweb_host *host, struct luaweb_reader *reader,
                               struct luaweb_slice *rest)
{
    (void)host;
    *rest = lw_reader_rest(reader);
}

EXPORT bool luaweb_reader_done(struct luaweb_host *host, struct luaweb_reader *reader)
{
    (void)host;
    return lw_reader_done(reader);
}

EXPORT const char *luaweb_reader_error(struct luaweb_host *host,
                                       const struct luaweb_reader *reader)
{
    (void)host;
    return lw_reader_error(reader);
}
