/* SPDX-License-Identifier: MIT
 *
 * Entity tags.  Lists are read from left to right to their end, each octet once or
 * twice.  Owns nothing.  RFC 9110 §8.8.3, §13.1.1, §13.1.2, §5.6.1. */
#include "http/etag.h"

#include <string.h>

#include "http/fields.h"

/* What the lines of a list have shown so far. */
struct reading {
    struct luaweb_slice tag; /* the current one */
    bool is_strong;
    bool has_line;
    bool has_star;
    bool has_quoted;
    bool has_match;
    bool is_malformed;
};

static void skip_empty_members(struct luaweb_slice *rest)
{
    lw_slice_skip_space(rest);
    while (lw_slice_begins(*rest, ',')) {
        lw_slice_skip(rest, 1);
        lw_slice_skip_space(rest);
    }
}

/* etagc, RFC 9110 §8.8.3. */
static bool is_tag_octet(char c)
{
    unsigned char octet = (unsigned char)c;
    return octet > ' ' && octet != '"' && octet != 127;
}

bool lw_etag_is_weak(struct luaweb_slice tag)
{
    return tag.size >= 2 && tag.data[0] == 'W' && tag.data[1] == '/';
}

/* Without the mark of a weak tag. */
static struct luaweb_slice opaque_tag(struct luaweb_slice tag)
{
    if (lw_etag_is_weak(tag))
        lw_slice_skip(&tag, 2);
    return tag;
}

bool lw_etag_valid(struct luaweb_slice tag)
{
    struct luaweb_slice quoted = opaque_tag(tag);
    if (quoted.size < 2 || quoted.data[0] != '"' || quoted.data[quoted.size - 1] != '"')
        return false;
    for (size_t i = 1; i < quoted.size - 1; i++)
        if (!is_tag_octet(quoted.data[i]))
            return false;
    return true;
}

bool lw_etag_equal_strong(struct luaweb_slice a, struct luaweb_slice b)
{
    return lw_slice_equal(a, b) && !lw_etag_is_weak(a) && lw_etag_valid(a);
}

bool lw_etag_equal_weak(struct luaweb_slice a, struct luaweb_slice b)
{
    return lw_slice_equal(opaque_tag(a), opaque_tag(b)) && lw_etag_valid(a);
}

/* How many octets of `rest` are a star or something in quotes, maybe marked as weak;
 * 0 when it begins with neither. */
static size_t member_size(struct luaweb_slice rest)
{
    if (lw_slice_begins(rest, '*'))
        return 1;
    struct luaweb_slice quoted = opaque_tag(rest);
    if (!lw_slice_begins(quoted, '"'))
        return 0;
    const char *end = memchr(quoted.data + 1, '"', quoted.size - 1);
    return end ? (size_t)(end + 1 - rest.data) : 0;
}

static void read_member(struct reading *reading, struct luaweb_slice member)
{
    if (lw_slice_begins(member, '*')) {
        reading->has_star = true;
        return;
    }
    reading->has_quoted = true;
    if (reading->is_strong ? lw_etag_equal_strong(member, reading->tag)
                           : lw_etag_equal_weak(member, reading->tag))
        reading->has_match = true;
}

static void read_line(struct reading *reading, struct luaweb_slice rest)
{
    skip_empty_members(&rest);
    while (rest.size > 0) {
        struct luaweb_slice member = {rest.data, member_size(rest)};
        lw_slice_skip(&rest, member.size);
        lw_slice_skip_space(&rest);
        if (member.size == 0 || (rest.size > 0 && !lw_slice_begins(rest, ','))) {
            reading->is_malformed = true;
            return;
        }
        read_member(reading, member);
        skip_empty_members(&rest);
    }
}

enum lw_etag_match lw_etag_list(struct luaweb_fields headers, uint32_t bit,
                                struct luaweb_slice tag, bool is_strong)
{
    struct reading reading = {.tag = tag, .is_strong = is_strong};
    for (uint32_t i = 0; i < headers.count; i++) {
        if (!lw_field_is(&headers.list[i], bit))
            continue;
        reading.has_line = true;
        read_line(&reading, headers.list[i].value);
    }
    if (!reading.has_line)
        return LW_ETAG_ABSENT;
    if (reading.is_malformed || (reading.has_star && reading.has_quoted))
        return LW_ETAG_OTHER;
    if (reading.has_star)
        return LW_ETAG_STAR;
    return reading.has_match ? LW_ETAG_MATCH : LW_ETAG_OTHER;
}
