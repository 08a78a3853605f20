/* SPDX-License-Identifier: MIT
 *
 * Fuzzes Range.  The first eight octets are the size of the representation, the rest is
 * the value.  What is read lies within the representation, touches no other range, and
 * is read again as the same when it is asked for alone; a list has the octets of its
 * members.  Parts are as large as they are said to be.  RFC 9110 §14. */
#include <stdio.h>

#include "base/require.h"
#include "http/fields.h"
#include "http/range.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum lw_range_result ask(struct luaweb_slice value, uint64_t size,
                                struct lw_range ranges[LW_RANGES_MAX], uint32_t *count)
{
    struct luaweb_field line = {LW_SLICE("Range"), value};
    struct luaweb_fields headers = {&line, 1};
    enum lw_range_result result = lw_range_read(headers, size, ranges, count);
    lw_require((result != LW_RANGE_IGNORED) == lw_range_wanted(headers));
    lw_require((result == LW_RANGE_FITS) == (*count > 0));
    lw_require(*count <= LW_RANGES_MAX);
    return result;
}

static void check_alone(struct lw_range range, uint64_t size)
{
    char text[64];
    int length =
        snprintf(text, sizeof(text), "bytes=%llu-%llu", (unsigned long long)range.first,
                 (unsigned long long)range.last);
    struct lw_range again[LW_RANGES_MAX];
    uint32_t count;
    lw_require(ask(lw_slice(text, (size_t)length), size, again, &count)
               == LW_RANGE_FITS);
    lw_require(count == 1 && again[0].first == range.first
               && again[0].last == range.last);

    char expected[LW_RANGE_TEXT_MAX + 1];
    char out[LW_RANGE_TEXT_MAX];
    length = snprintf(expected, sizeof(expected), "bytes %s/%llu", text + 6,
                      (unsigned long long)size);
    lw_require(lw_slice_equal(lw_slice(out, lw_range_write(range, size, out)),
                              lw_slice(expected, (size_t)length)));
}

static void check_ranges(const struct lw_range *ranges, uint32_t count, uint64_t size)
{
    uint64_t left = size;
    for (uint32_t i = 0; i < count; i++) {
        lw_require(ranges[i].first <= ranges[i].last && ranges[i].last < size);
        lw_require(ranges[i].last - ranges[i].first < left);
        left -= ranges[i].last - ranges[i].first + 1;
        for (uint32_t j = 0; j < i; j++)
            lw_require(ranges[i].first > ranges[j].last + 1
                       || ranges[j].first > ranges[i].last + 1);
        check_alone(ranges[i], size);
    }
}

static void check_parts(const struct lw_range *ranges, uint32_t count, uint64_t size)
{
    struct lw_range_parts parts = {ranges, count, size, LW_SLICE("limit"),
                                   LW_SLICE("text/plain")};
    char out[LW_RANGE_PART_MAX + sizeof("text/plain") - 1];
    uint64_t total = lw_range_parts_size(&parts);
    for (uint32_t i = 0; i <= count; i++) {
        size_t length = lw_range_part_write(&parts, i, out);
        lw_require(length <= sizeof(out));
        total -= length;
        total -= i < count ? ranges[i].last - ranges[i].first + 1 : 0;
    }
    lw_require(total == 0);
}

/* The octets of a small representation that are to be sent, one bit each. */
static uint64_t octets_of(const struct lw_range *ranges, uint32_t count)
{
    uint64_t octets = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t at = ranges[i].first; at <= ranges[i].last; at++)
            octets |= UINT64_C(1) << at;
    return octets;
}

/* The same, when each member of the list is asked for alone. */
static void check_members(struct luaweb_slice value, uint64_t size, uint64_t octets)
{
    struct luaweb_slice list = {value.data + 6, value.size - 6};
    struct luaweb_slice member;
    uint64_t found = 0;
    while (lw_list_next(&list, &member)) {
        char text[64];
        struct lw_range ranges[LW_RANGES_MAX];
        uint32_t count;
        if (member.size > sizeof(text) - 6)
            return;
        memcpy(text, value.data, 6);
        memcpy(text + 6, member.data, member.size);
        lw_require(ask(lw_slice(text, member.size + 6), size, ranges, &count)
                   != LW_RANGE_IGNORED);
        lw_require(count <= 1);
        found |= octets_of(ranges, count);
    }
    lw_require(found == octets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t octets;
    if (size < sizeof octets)
        return 0;
    memcpy(&octets, data, sizeof octets);
    struct luaweb_slice value = {(const char *)data + sizeof octets,
                                 size - sizeof octets};

    struct lw_range ranges[LW_RANGES_MAX];
    uint32_t count;
    enum lw_range_result result = ask(value, octets, ranges, &count);
    if (result == LW_RANGE_IGNORED)
        return 0;
    check_ranges(ranges, count, octets);
    if (octets <= INT64_MAX)
        check_parts(ranges, count, octets);
    if (octets <= 64)
        check_members(value, octets, octets_of(ranges, count));
    return 0;
}
