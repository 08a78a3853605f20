/* SPDX-License-Identifier: MIT
 *
 * The Content-Type of a response: what the app said, or what was negotiated
 * (RFC 9110 §8.3). */
#include <string.h>

#include "base/slice.h"
#include "http/accept.h"
#include "http/media_type.h"
#include "machine/fields.h"

#define BIT(property) (1U << (property))
#define DIMENSIONS    (BIT(LUAWEB_AVAILABLE_MEDIA_TYPES) | BIT(LUAWEB_AVAILABLE_CHARSETS))

static bool has_parameter(struct luaweb_slice rest, struct luaweb_slice name)
{
    struct luaweb_field parameter;
    while (lw_media_type_next(&rest, &parameter))
        if (lw_slice_equal_nocase(parameter.name, name))
            return true;
    return false;
}

static bool is_json(const struct lw_media_type *type)
{
    struct luaweb_slice subtype = type->subtype;
    struct luaweb_slice suffix = LW_SLICE("+json");
    if (lw_slice_equal_nocase(subtype, LW_SLICE("json")))
        return true;
    return subtype.size > suffix.size
           && lw_slice_equal_nocase(
               lw_slice(subtype.data + subtype.size - suffix.size, suffix.size),
               suffix);
}

/* Text has a charset: the one that was negotiated, else UTF-8. */
static struct luaweb_slice with_charset(struct lw_walk *walk, struct luaweb_slice type)
{
    static const char parameter[] = "; charset=";
    struct luaweb_slice charset = LW_SLICE("utf-8");
    struct lw_list list;
    int chosen = lw_walk_accept(walk, LW_ACCEPT_CHARSET, &list);
    if (chosen > 0)
        charset = list.items[chosen - 1];
    size_t size = type.size + sizeof parameter - 1 + charset.size;
    char *text = lw_arena_alloc(walk->arena, size);
    memcpy(text, type.data, type.size);
    memcpy(text + type.size, parameter, sizeof parameter - 1);
    memcpy(text + type.size + sizeof parameter - 1, charset.data, charset.size);
    return lw_slice(text, size);
}

/* Whether the content is a representation for which a type or charset was chosen: what
 * says why there is none is not, nor what is said before there was a choice. */
static bool is_negotiated(const struct lw_walk *walk)
{
    const int end =
        walk->facts & LW_FACT_KEPT ? 400 : 300; /* 303 tells what was done */
    return walk->machine && walk->machine->has & DIMENSIONS && walk->status < end
           && walk->row >= walk->machine->graph->media_type_offered
           && walk->method->bit != LUAWEB_METHOD_OPTIONS;
}

uint32_t lw_fields_type_needs(const struct lw_walk *walk)
{
    return is_negotiated(walk) && walk->status != 204 ? DIMENSIONS : 0;
}

struct luaweb_slice lw_fields_type(struct lw_walk *walk, struct luaweb_slice given)
{
    struct lw_media_type type;
    struct lw_list list;
    bool varies = is_negotiated(walk);
    bool is_default = !given.data;
    if (is_default)
        given = LW_SLICE("text/plain");
    if (!varies)
        return is_default ? LW_SLICE("text/plain; charset=utf-8") : given;
    bool is_given_json = lw_slice_equal(given, LW_SLICE("application/json"));
    int chosen = lw_walk_accept(walk, LW_ACCEPT_MEDIA_TYPE, &list);
    if (chosen > 0 && lw_media_type_parse(list.items[chosen - 1], &type)
        && (is_default || (is_given_json && is_json(&type))))
        given = list.items[chosen - 1];
    if (lw_media_type_parse(given, &type)
        && lw_slice_equal_nocase(type.type, LW_SLICE("text"))
        && !has_parameter(type.parameters, LW_SLICE("charset")))
        return with_charset(walk, given);
    return given;
}
