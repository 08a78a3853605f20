/* SPDX-License-Identifier: MIT
 *
 * Byte ranges.  The field is read as a whole before the size of the representation is
 * looked at, so that its syntax is judged alike for all sizes.  Owns nothing.
 * RFC 9110 §14, §15.3.7. */
#include "http/range.h"

#include <string.h>

#include "base/require.h"
#include "http/fields.h"

/* A range as it was asked for. */
struct request {
    uint64_t first;
    uint64_t last; /* UINT64_MAX: to the end */
    bool is_suffix;
    uint64_t suffix; /* octets from the end */
};

/* Collects octets, or only counts them. */
struct writer {
    char *out; /* NULL: counts */
    size_t size;
};

/* Takes at least one digit off `rest`.  Numbers that are too large become UINT64_MAX,
 * which lies behind every representation. */
static bool take_number(struct luaweb_slice *rest, uint64_t *number)
{
    size_t digits = 0;
    *number = 0;
    while (digits < rest->size && rest->data[digits] >= '0'
           && rest->data[digits] <= '9') {
        uint64_t digit = (uint64_t)(rest->data[digits++] - '0');
        bool fits = *number <= (UINT64_MAX - digit) / 10;
        *number = fits ? *number * 10 + digit : UINT64_MAX;
    }
    rest->data += digits;
    rest->size -= digits;
    return digits > 0;
}

static bool take_hyphen(struct luaweb_slice *rest)
{
    if (rest->size == 0 || rest->data[0] != '-')
        return false;
    rest->data++;
    rest->size--;
    return true;
}

/* range-spec without other-range, RFC 9110 §14.1.1. */
static bool read_request(struct luaweb_slice text, struct request *request)
{
    *request = (struct request){.last = UINT64_MAX};
    request->is_suffix = take_hyphen(&text);
    if (request->is_suffix)
        return take_number(&text, &request->suffix) && text.size == 0;

    if (!take_number(&text, &request->first) || !take_hyphen(&text))
        return false;
    if (text.size > 0 && !take_number(&text, &request->last))
        return false;
    return text.size == 0 && request->first <= request->last;
}

/* Gives how many ranges are asked for; 0 when the field is to be ignored. */
static uint32_t read_requests(struct luaweb_fields headers,
                              struct request requests[LW_RANGES_MAX])
{
    const struct luaweb_slice unit = LW_SLICE("bytes=");
    const struct luaweb_field *line = lw_fields_only(headers, LW_HAS_RANGE);
    if (!line || line->value.size < unit.size
        || !lw_slice_equal_nocase(lw_slice(line->value.data, unit.size), unit))
        return 0;

    struct luaweb_slice list =
        lw_slice(line->value.data + unit.size, line->value.size - unit.size);
    struct luaweb_slice member;
    uint32_t count = 0;
    while (lw_list_next(&list, &member)) {
        if (count == LW_RANGES_MAX || !read_request(member, &requests[count]))
            return 0;
        count++;
    }
    return count;
}

/* False when the representation has nothing for this request. */
static bool fit(const struct request *request, uint64_t size, struct lw_range *range)
{
    if (request->is_suffix) {
        uint64_t suffix = request->suffix < size ? request->suffix : size;
        *range = (struct lw_range){size - suffix, size - 1};
        return suffix > 0;
    }
    *range = (struct lw_range){request->first, request->last};
    if (range->first >= size)
        return false;
    if (range->last >= size)
        range->last = size - 1;
    return true;
}

/* Whether two ranges overlap or are neighbours. */
static bool touch(struct lw_range a, struct lw_range b)
{
    return a.first <= b.last + 1 && b.first <= a.last + 1;
}

/* Adds a range to others, of which no two touch; gives how many there are then.  What
 * it touches becomes one with it, in the place of the first of these; that can touch no
 * other one, since what it is made of did not. */
static uint32_t add(struct lw_range *ranges, uint32_t count, struct lw_range range)
{
    uint32_t kept = 0;
    uint32_t place = count;
    for (uint32_t i = 0; i < count; i++) {
        struct lw_range old = ranges[i];
        if (!touch(old, range)) {
            ranges[kept++] = old;
            continue;
        }
        range.first = old.first < range.first ? old.first : range.first;
        range.last = old.last > range.last ? old.last : range.last;
        if (place == count)
            place = kept++;
    }
    if (place == count)
        place = kept++;
    ranges[place] = range;
    return kept;
}

bool lw_range_wanted(struct luaweb_fields headers)
{
    struct request requests[LW_RANGES_MAX];
    return read_requests(headers, requests) > 0;
}

enum lw_range_result lw_range_read(struct luaweb_fields headers, uint64_t size,
                                   struct lw_range *ranges, uint32_t *count)
{
    struct request requests[LW_RANGES_MAX];
    uint32_t asked = read_requests(headers, requests);
    *count = 0;
    if (asked == 0)
        return LW_RANGE_IGNORED;
    for (uint32_t i = 0; i < asked; i++) {
        struct lw_range range;
        if (fit(&requests[i], size, &range))
            *count = add(ranges, *count, range);
    }
    return *count > 0 ? LW_RANGE_FITS : LW_RANGE_UNSATISFIABLE;
}

static void put(struct writer *writer, struct luaweb_slice text)
{
    if (writer->out && text.size > 0)
        memcpy(writer->out + writer->size, text.data, text.size);
    writer->size += text.size;
}

static void put_number(struct writer *writer, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put(writer, lw_slice(digits + at, sizeof(digits) - at));
}

static void put_range(struct writer *writer, struct lw_range range, uint64_t size)
{
    put(writer, LW_SLICE("bytes "));
    put_number(writer, range.first);
    put(writer, LW_SLICE("-"));
    put_number(writer, range.last);
    put(writer, LW_SLICE("/"));
    put_number(writer, size);
}

size_t lw_range_write(struct lw_range range, uint64_t size, char out[LW_RANGE_TEXT_MAX])
{
    struct writer writer = {out, 0};
    put_range(&writer, range, size);
    return writer.size;
}

size_t lw_range_write_unsatisfiable(uint64_t size, char out[LW_RANGE_TEXT_MAX])
{
    struct writer writer = {out, 0};
    put(&writer, LW_SLICE("bytes */"));
    put_number(&writer, size);
    return writer.size;
}

/* The line end in front of a boundary belongs to it; nothing is in front of the
 * first. */
size_t lw_range_part_write(const struct lw_range_parts *parts, uint32_t index,
                           char *out)
{
    lw_require(index <= parts->count);
    lw_require(parts->boundary.size > 0
               && parts->boundary.size <= LW_RANGE_BOUNDARY_MAX);
    struct writer writer = {out, 0};
    if (index > 0)
        put(&writer, LW_SLICE("\r\n"));
    put(&writer, LW_SLICE("--"));
    put(&writer, parts->boundary);
    if (index == parts->count) {
        put(&writer, LW_SLICE("--\r\n"));
        return writer.size;
    }
    if (parts->type.size > 0) {
        put(&writer, LW_SLICE("\r\nContent-Type: "));
        put(&writer, parts->type);
    }
    put(&writer, LW_SLICE("\r\nContent-Range: "));
    put_range(&writer, parts->ranges[index], parts->size);
    put(&writer, LW_SLICE("\r\n\r\n"));
    return writer.size;
}

uint64_t lw_range_parts_size(const struct lw_range_parts *parts)
{
    lw_require(parts->size <= INT64_MAX);
    uint64_t size = 0;
    for (uint32_t i = 0; i <= parts->count; i++) {
        size += lw_range_part_write(parts, i, NULL);
        if (i < parts->count)
            size += parts->ranges[i].last - parts->ranges[i].first + 1;
    }
    return size;
}
