/* SPDX-License-Identifier: MIT
 *
 * Questions on the request as such and on the content that comes with it: its head
 * only, nothing is read (RFC 9110 §6.4, §7.4, §8.3, §8.4, §8.6, §10.1.1, §14.5). */
#include "machine/answers.h"

#include "base/slice.h"
#include "http/fields.h"
#include "http/media_type.h"

/* Without the port, unless it is an IPv6 address alone. */
static struct luaweb_slice without_port(struct luaweb_slice host)
{
    for (size_t i = host.size; i-- > 0;) {
        if (host.data[i] == ']')
            break;
        if (host.data[i] == ':')
            return lw_slice(host.data, i);
    }
    return host;
}

int lw_answer_authority_served(struct lw_walk *walk)
{
    struct lw_list hosts;
    if (!lw_walk_list(walk, LUAWEB_HOSTS, &hosts))
        return LW_ASK;
    struct luaweb_slice host = walk->request->host;
    struct luaweb_slice name = without_port(host);
    if (host.size == 0) /* HTTP/1.0 need not say it */
        return LUAWEB_ANSWER_YES;
    for (uint32_t i = 0; i < hosts.count; i++)
        if (lw_slice_equal_nocase(hosts.items[i], host)
            || lw_slice_equal_nocase(hosts.items[i], name))
            return LUAWEB_ANSWER_YES;
    return LUAWEB_ANSWER_NO;
}

int lw_answer_has_content(struct lw_walk *walk)
{
    return walk->content.is_chunked || walk->content.length > 0;
}

int lw_answer_expectation_met(struct lw_walk *walk)
{
    const struct luaweb_fields *headers = &walk->request->headers;
    if (!(walk->present & LW_HAS_EXPECT) || walk->request->minor_version == 0)
        return LUAWEB_ANSWER_YES;
    for (uint32_t i = 0; i < headers->count; i++) {
        if (!lw_field_is(&headers->list[i], LW_HAS_EXPECT))
            continue;
        struct luaweb_slice rest = headers->list[i].value;
        struct luaweb_slice member;
        while (lw_list_next(&rest, &member))
            if (!lw_slice_equal_nocase(member, LW_SLICE("100-continue")))
                return LUAWEB_ANSWER_NO;
    }
    return LUAWEB_ANSWER_YES;
}

/* Whether a switch is on; LW_ASK where a function decides. */
static int is_on(struct lw_walk *walk, enum luaweb_property property)
{
    struct lw_value value;
    if (!lw_walk_value(walk, property, &value))
        return LW_ASK;
    return value.text.data && value.number != 0;
}

int lw_answer_length_known(struct lw_walk *walk)
{
    int is_required = is_on(walk, LUAWEB_LENGTH_REQUIRED);
    if (is_required == LW_ASK)
        return LW_ASK;
    return !is_required || !walk->content.is_chunked;
}

int lw_answer_content_fits(struct lw_walk *walk)
{
    struct lw_value limit;
    if (!lw_walk_value(walk, LUAWEB_BODY_LIMIT, &limit))
        return LW_ASK;
    if (limit.text.data)
        walk->content.limit = lw_limit_of(limit.number);
    return walk->content.is_chunked || walk->content.length <= walk->content.limit;
}

int lw_answer_content_whole(struct lw_walk *walk)
{
    int takes_parts = is_on(walk, LUAWEB_PARTIAL_PUT);
    if (takes_parts == LW_ASK)
        return LW_ASK;
    return takes_parts || !(walk->present & LW_HAS_CONTENT_RANGE);
}

static bool is_same_coding(struct luaweb_slice a, struct luaweb_slice b)
{
    struct luaweb_slice *both[] = {&a, &b};
    for (int i = 0; i < 2; i++)
        if (both[i]->size > 2 && lw_lower(both[i]->data[0]) == 'x'
            && both[i]->data[1] == '-') /* RFC 9110 §8.4.1: x-gzip is gzip */
            *both[i] = lw_slice(both[i]->data + 2, both[i]->size - 2);
    return lw_slice_equal_nocase(a, b);
}

static bool is_coding_known(const struct lw_list *known, struct luaweb_slice coding)
{
    if (lw_slice_equal_nocase(coding, LW_SLICE("identity")))
        return true;
    for (uint32_t i = 0; i < known->count; i++)
        if (is_same_coding(known->items[i], coding))
            return true;
    return false;
}

int lw_answer_content_coding_known(struct lw_walk *walk)
{
    const struct luaweb_fields *headers = &walk->request->headers;
    struct lw_list known;
    if (!(walk->present & LW_HAS_CONTENT_ENCODING))
        return LUAWEB_ANSWER_YES;
    if (!lw_walk_list(walk, LUAWEB_ACCEPTABLE_CONTENT_CODINGS, &known))
        return LW_ASK;
    for (uint32_t i = 0; i < headers->count; i++) {
        if (!lw_field_is(&headers->list[i], LW_HAS_CONTENT_ENCODING))
            continue;
        struct luaweb_slice rest = headers->list[i].value;
        struct luaweb_slice coding;
        while (lw_list_next(&rest, &coding))
            if (!is_coding_known(&known, coding))
                return LUAWEB_ANSWER_NO;
    }
    return LUAWEB_ANSWER_YES;
}

/* Whether the content has one of these types. */
static bool has_type(const struct lw_walk *walk, const struct lw_list *types)
{
    const struct luaweb_fields *headers = &walk->request->headers;
    const struct luaweb_field *field =
        lw_fields_find(headers->list, headers->count, LW_SLICE("Content-Type"));
    struct lw_media_type type;
    struct lw_media_type pattern;
    if (!field || !lw_media_type_parse(field->value, &type))
        return false;
    for (uint32_t i = 0; i < types->count; i++)
        if (lw_media_type_parse(types->items[i], &pattern)
            && lw_media_type_match(&type, &pattern))
            return true;
    return false;
}

int lw_answer_media_type_taken(struct lw_walk *walk)
{
    struct lw_list types;
    if (!(walk->present & LW_HAS_CONTENT_TYPE))
        return LUAWEB_ANSWER_YES;
    if (!lw_walk_list(walk, LUAWEB_ACCEPTABLE_MEDIA_TYPES, &types))
        return LW_ASK;
    return types.count == 0 || has_type(walk, &types);
}

/* The type of a patch is what it means: one without is refused. */
int lw_answer_patch_type_taken(struct lw_walk *walk)
{
    struct lw_list types;
    if (!(walk->present & LW_HAS_CONTENT_TYPE))
        return LUAWEB_ANSWER_NO;
    if (!lw_walk_list(walk, LUAWEB_PATCH_MEDIA_TYPES, &types))
        return LW_ASK;
    return types.count == 0 || has_type(walk, &types);
}
