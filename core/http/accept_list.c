/* SPDX-License-Identifier: MIT
 *
 * Reads accept lists.  A member is cut out at its comma and its range at the semicolon,
 * both unchecked: a range that equals an offer needs no check, and one that does not
 * plays no part.  RFC 9110 §12.4.2, §12.5, §5.6.1, §5.6.6. */
#include "http/accept_list.h"

#include "http/fields.h"
#include "http/media_type.h"

#define MAX_SUBTAG 8 /* octets, RFC 4647 §2.1 */

/* clang-format off */
static const struct luaweb_slice field_names[] = {
    [LW_ACCEPT_MEDIA_TYPE] = {"accept",          sizeof("accept") - 1},
    [LW_ACCEPT_LANGUAGE]   = {"accept-language", sizeof("accept-language") - 1},
    [LW_ACCEPT_CHARSET]    = {"accept-charset",  sizeof("accept-charset") - 1},
    [LW_ACCEPT_CODING]     = {"accept-encoding", sizeof("accept-encoding") - 1},
};
/* clang-format on */

/* The octets of `text` before the first of `octet`. */
static size_t size_before(struct luaweb_slice text, char octet)
{
    const char *at = text.size > 0 ? memchr(text.data, octet, text.size) : NULL;
    return at ? (size_t)(at - text.data) : text.size;
}

static struct luaweb_slice behind(struct luaweb_slice text, size_t size)
{
    return lw_slice(text.data + size, text.size - size);
}

static void add_member(struct lw_accept_list *list, struct luaweb_slice text)
{
    size_t size = size_before(text, ';');
    struct lw_accept_member *member = &list->members[list->count++];
    member->range = lw_slice_trim(lw_slice(text.data, size));
    member->parameters = behind(text, size);
    member->parameter_count = 0;
    member->weight = LW_ACCEPT_WHOLE;
    member->state = size == text.size ? LW_ACCEPT_READ : LW_ACCEPT_UNREAD;
}

static void add_line(struct lw_accept_list *list, struct luaweb_slice rest)
{
    bool has_quotes = size_before(rest, '"') < rest.size;
    while (rest.size > 0 && list->count < LW_ACCEPT_MEMBERS) {
        size_t size = has_quotes ? lw_list_size(rest) : size_before(rest, ',');
        struct luaweb_slice text = lw_slice_trim(lw_slice(rest.data, size));
        if (text.size > 0)
            add_member(list, text);
        rest = behind(rest, size < rest.size ? size + 1 : size);
    }
}

void lw_accept_read(enum lw_accept dimension, struct luaweb_fields headers,
                    struct lw_accept_list *list)
{
    list->is_sent = false;
    list->count = 0;
    list->octets_left = LW_ACCEPT_OCTETS;
    list->parameters_left = LW_ACCEPT_PARAMETERS;
    for (uint32_t i = 0; i < headers.count; i++) {
        const struct luaweb_field *field = &headers.list[i];
        if (!lw_slice_equal_nocase(field->name, field_names[dimension]))
            continue;
        list->is_sent = true;
        if (field->value.size > list->octets_left)
            continue;
        list->octets_left -= (uint32_t)field->value.size;
        add_line(list, field->value);
    }
}

/* 0 or 1 with up to three decimals (RFC 9110 §12.4.2). */
static bool read_weight(struct luaweb_slice value, uint32_t *weight)
{
    char whole = value.data[0];
    if (value.size > sizeof("0.000") - 1 || (whole != '0' && whole != '1')
        || (value.size > 1 && value.data[1] != '.'))
        return false;
    uint32_t thousandths = whole == '1' ? LW_ACCEPT_WHOLE : 0;
    uint32_t unit = LW_ACCEPT_WHOLE / 10;
    for (size_t i = 2; i < value.size; i++, unit /= 10) {
        if (value.data[i] < '0' || value.data[i] > '9')
            return false;
        thousandths += (uint32_t)(value.data[i] - '0') * unit;
    }
    *weight = thousandths;
    return thousandths <= LW_ACCEPT_WHOLE;
}

/* Whether a parameter that stands before `rest` ends there. */
static bool ends_parameter(struct luaweb_slice rest)
{
    rest = lw_slice_trim(rest);
    return rest.size == 0 || rest.data[0] == ';';
}

/* What follows behind the weight means nothing (RFC 9110 §12.5.1). */
static bool read_parameters(struct lw_accept_list *list,
                            struct lw_accept_member *member)
{
    struct luaweb_slice rest = member->parameters;
    struct luaweb_field parameter;
    member->parameters.size = 0;
    while (lw_media_type_next(&rest, &parameter)) {
        if (lw_slice_equal_nocase(parameter.name, LW_SLICE("q")))
            return ends_parameter(rest)
                   && read_weight(parameter.value, &member->weight);
        if (list->parameters_left == 0)
            return false;
        list->parameters_left--;
        member->parameter_count++;
        member->parameters.size = (size_t)(rest.data - member->parameters.data);
    }
    return rest.size == 0;
}

bool lw_accept_read_member(struct lw_accept_list *list, struct lw_accept_member *member)
{
    if (member->state == LW_ACCEPT_UNREAD)
        member->state =
            read_parameters(list, member) ? LW_ACCEPT_READ : LW_ACCEPT_MALFORMED;
    return member->state == LW_ACCEPT_READ;
}

/* type/subtype, type and star, or two stars (RFC 9110 §12.5.1). */
static bool is_media_range(struct luaweb_slice range)
{
    size_t type_size = size_before(range, '/');
    if (type_size == 0 || lw_token_size(range.data, type_size) < type_size
        || type_size + 1 >= range.size)
        return false;
    struct luaweb_slice subtype = behind(range, type_size + 1);
    if (lw_token_size(subtype.data, subtype.size) < subtype.size)
        return false;
    bool any_type = type_size == 1 && range.data[0] == '*';
    return !any_type || lw_slice_equal(subtype, LW_SLICE("*"));
}

/* A star, or subtags of 1 to 8 letters and digits, the first without digits. */
static bool is_language_range(struct luaweb_slice range)
{
    size_t subtag_size = 0;
    bool is_first = true;
    for (size_t i = 0; i < range.size; i++) {
        char c = lw_lower(range.data[i]);
        if (c == '-' && subtag_size > 0) {
            subtag_size = 0;
            is_first = false;
            continue;
        }
        bool is_right = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9' && !is_first);
        if (!is_right || ++subtag_size > MAX_SUBTAG)
            return lw_slice_equal(range, LW_SLICE("*"));
    }
    return subtag_size > 0;
}

bool lw_accept_is_range(enum lw_accept dimension, struct luaweb_slice range)
{
    if (dimension == LW_ACCEPT_MEDIA_TYPE)
        return is_media_range(range);
    if (dimension == LW_ACCEPT_LANGUAGE)
        return is_language_range(range);
    return range.size > 0 && lw_token_size(range.data, range.size) == range.size;
}
