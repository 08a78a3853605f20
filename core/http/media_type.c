/* SPDX-License-Identifier: MIT
 *
 * A media type.  Read from left to right by functions that each take one thing off the
 * front of a slice.  Owns nothing.  RFC 9110 §8.3.1, §5.6.2, §5.6.4, §5.6.6. */
#include "http/media_type.h"

#include <string.h>

#include "http/fields.h"

/* HTAB, SP, VCHAR or obs-text: what a quoted string may hold (RFC 9110 §5.6.4). */
static bool is_text_octet(char c)
{
    unsigned char octet = (unsigned char)c;
    return octet == '\t' || (octet >= ' ' && octet != 127);
}

/* Empty when `rest` does not begin with a token. */
static struct luaweb_slice take_token(struct luaweb_slice *rest)
{
    struct luaweb_slice token = {rest->data, lw_token_size(rest->data, rest->size)};
    lw_slice_skip(rest, token.size);
    return token;
}

/* With its quotes; empty when `rest` (which begins with a quote) does not hold a whole
 * quoted string.  Then `rest` has been used up to the fault. */
static struct luaweb_slice take_quoted(struct luaweb_slice *rest)
{
    const char *start = rest->data;
    lw_slice_skip(rest, 1);
    while (rest->size > 0 && is_text_octet(rest->data[0])) {
        char c = rest->data[0];
        lw_slice_skip(rest, 1);
        if (c == '"')
            return lw_slice(start, (size_t)(rest->data - start));
        if (c != '\\')
            continue;
        if (rest->size == 0 || !is_text_octet(rest->data[0]))
            break;
        lw_slice_skip(rest, 1);
    }
    return lw_slice(start, 0);
}

/* Takes name=value off `rest`, or says no and leaves `parameter` as it was. */
static bool take_parameter(struct luaweb_slice *rest, struct luaweb_field *parameter)
{
    struct luaweb_slice name = take_token(rest);
    if (name.size == 0 || !lw_slice_begins(*rest, '='))
        return false;
    lw_slice_skip(rest, 1);
    struct luaweb_slice value =
        lw_slice_begins(*rest, '"') ? take_quoted(rest) : take_token(rest);
    if (value.size == 0)
        return false;
    *parameter = (struct luaweb_field){name, value};
    return true;
}

bool lw_media_type_next(struct luaweb_slice *rest, struct luaweb_field *parameter)
{
    struct luaweb_slice ahead = *rest;
    lw_slice_skip_space(&ahead);
    while (lw_slice_begins(ahead, ';')) { /* an empty parameter is just a semicolon */
        lw_slice_skip(&ahead, 1);
        lw_slice_skip_space(&ahead);
        if (ahead.size == 0 || ahead.data[0] == ';')
            continue;
        if (!take_parameter(&ahead, parameter))
            return false;
        *rest = ahead;
        return true;
    }
    if (ahead.size == 0)
        *rest = ahead;
    return false;
}

bool lw_media_type_parse(struct luaweb_slice text, struct lw_media_type *media)
{
    struct luaweb_slice rest = lw_slice_trim(text);
    struct lw_media_type found;

    found.type = take_token(&rest);
    if (found.type.size == 0 || !lw_slice_begins(rest, '/'))
        return false;
    lw_slice_skip(&rest, 1);
    found.subtype = take_token(&rest);
    if (found.subtype.size == 0)
        return false;
    found.name = lw_slice(found.type.data, found.type.size + 1 + found.subtype.size);
    found.parameters = rest;

    struct luaweb_field parameter;
    while (lw_media_type_next(&rest, &parameter))
        continue;
    if (rest.size > 0)
        return false;
    *media = found;
    return true;
}

/* Takes the quotes off a value and says whether it had any. */
static bool strip_quotes(struct luaweb_slice *value)
{
    if (value->size < 2 || value->data[0] != '"' || value->data[value->size - 1] != '"')
        return false;
    *value = lw_slice(value->data + 1, value->size - 2);
    return true;
}

/* The next octet that `content` (not empty) stands for. */
static char take_octet(struct luaweb_slice *content, bool is_quoted)
{
    if (is_quoted && content->size > 1 && content->data[0] == '\\')
        lw_slice_skip(content, 1);
    char octet = content->data[0];
    lw_slice_skip(content, 1);
    return octet;
}

size_t lw_media_type_unquote(struct luaweb_slice raw, char *out)
{
    bool is_quoted = strip_quotes(&raw);
    size_t written = 0;
    while (raw.size > 0)
        out[written++] = take_octet(&raw, is_quoted);
    return written;
}

static bool values_equal(struct luaweb_slice a, struct luaweb_slice b, bool any_case)
{
    bool a_is_quoted = strip_quotes(&a);
    bool b_is_quoted = strip_quotes(&b);
    while (a.size > 0 && b.size > 0) {
        char x = take_octet(&a, a_is_quoted);
        char y = take_octet(&b, b_is_quoted);
        if (any_case ? lw_lower(x) != lw_lower(y) : x != y)
            return false;
    }
    return a.size == 0 && b.size == 0;
}

/* Says whether the first of `parameters` with the name of `wanted` has its value. */
static bool has_parameter(struct luaweb_slice parameters, struct luaweb_field wanted)
{
    bool any_case = lw_slice_equal_nocase(wanted.name, LW_SLICE("charset"));
    struct luaweb_field found;
    while (lw_media_type_next(&parameters, &found))
        if (lw_slice_equal_nocase(found.name, wanted.name))
            return values_equal(found.value, wanted.value, any_case);
    return false;
}

bool lw_media_type_match(const struct lw_media_type *media,
                         const struct lw_media_type *pattern)
{
    if (memchr(media->name.data, '*', media->name.size) != NULL)
        return false;

    bool any_subtype = lw_slice_equal(pattern->subtype, LW_SLICE("*"));
    bool any_type = any_subtype && lw_slice_equal(pattern->type, LW_SLICE("*"));
    if (!any_type && !lw_slice_equal_nocase(pattern->type, media->type))
        return false;
    if (!any_subtype && !lw_slice_equal_nocase(pattern->subtype, media->subtype))
        return false;

    struct luaweb_slice rest = pattern->parameters;
    struct luaweb_field wanted;
    while (lw_media_type_next(&rest, &wanted))
        if (!has_parameter(media->parameters, wanted))
            return false;
    return true;
}
