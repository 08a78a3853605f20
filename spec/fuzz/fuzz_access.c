/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the lines of the access log.  A line stays within its bound, ends with its one
 * line feed, is printable ASCII else, and has as many quotes as its form: what a client
 * sends leaves no field.  The input: 29 octets of numbers, then the slices, each behind
 * an octet that tells its size. */
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "http/access.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NUMBERS 29

static struct luaweb_slice take(const uint8_t **at, const uint8_t *end)
{
    if (*at == end)
        return lw_slice("", 0);
    size_t size = *(*at)++;
    size_t left = (size_t)(end - *at);
    if (size > left)
        size = left;
    struct luaweb_slice slice = {(const char *)*at, size};
    *at += size;
    return slice;
}

static struct lw_access read_access(const uint8_t *data, const uint8_t *end)
{
    struct lw_access access = {.minor_version = data[0] & 1};
    memcpy(&access.time_ms, data + 1, 8);
    memcpy(&access.status, data + 9, 4);
    memcpy(&access.octets, data + 13, 8);
    memcpy(&access.duration_us, data + 21, 8);
    data += NUMBERS;
    struct luaweb_slice *slices[] = {
        &access.id,      &access.peer,       &access.method,   &access.target,
        &access.referer, &access.user_agent, &access.resource, &access.trace};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        *slices[i] = take(&data, end);
    return access;
}

static size_t count_quotes(const char *line, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)line[i];
        lw_require(c >= 0x20 && c <= 0x7e);
        count += c == '"';
    }
    return count;
}

static size_t check(const struct lw_access *access, enum lw_access_format format)
{
    /* Of exactly the promised size, so that one octet too many is noticed. */
    size_t bound = lw_access_bound(access);
    char *line = lw_alloc(bound);
    size_t size = lw_access_write(access, format, line);
    lw_require(size > 0 && size <= bound);
    lw_require(line[size - 1] == '\n');
    size_t quotes = count_quotes(line, size - 1);
    if (format == LW_ACCESS_JSON)
        lw_require(line[0] == '{' && line[size - 2] == '}');
    free(line);
    return quotes;
}

/* How many quotes a JSON line has: ten of the time and the three numbers, four of each
 * slice that is known, and four of the version, which comes with the method. */
static size_t json_quotes(const struct lw_access *a)
{
    size_t known = (a->id.size > 0) + (a->peer.size > 0) + (a->target.size > 0)
                   + (a->referer.size > 0) + (a->user_agent.size > 0)
                   + (a->resource.size > 0) + (a->trace.size > 0)
                   + 2 * (a->method.size > 0);
    return 10 + 4 * known;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < NUMBERS)
        return 0;
    struct lw_access access = read_access(data, data + size);
    lw_require(check(&access, LW_ACCESS_COMBINED) == 6);
    lw_require(check(&access, LW_ACCESS_JSON) == json_quotes(&access));
    return 0;
}
