/* SPDX-License-Identifier: MIT
 *
 * What a response carries, by row and status (RFC 9110 §10.2, §11.6.1, §12.5.5, §14.4,
 * §15; RFC 5789 §2.2, §3.1).  Those of CORS are in fields_cors.c. */
#include "machine/fields.h"

#include <stdio.h>
#include <string.h>

#include "base/date.h"
#include "base/slice.h"
#include "http/accept.h"
#include "http/fields.h"
#include "http/range.h"
#include "machine/answers.h"
#include "machine/field_lines.h"

#define BIT(property) (1U << (property))
#define IS_READ(bit)  ((bit) & (LUAWEB_METHOD_GET | LUAWEB_METHOD_HEAD))

/* Groups of fields. */
enum group {
    ALLOW = 1,
    CHALLENGE = 2,
    LOCATION = 4,
    RETRY_AFTER = 8,
    CACHING = 16,
    VALIDATORS = 32,
    VARIANT = 64, /* Content-Language, Content-Encoding */
    VARY = 128,
    OPTIONS = 256, /* what may be sent to the resource */
    ACCEPT_RANGES = 512,
    CONTENT_RANGE = 1024,
    CONTENT_LOCATION = 2048,
    REFUSED_TYPE = 4096,
    REFUSED_PATCH = 8192,
    REFUSED_CODING = 16384
};

static const uint32_t needs_of[][2] = {
    {CHALLENGE,      BIT(LUAWEB_CHALLENGE)                                             },
    {LOCATION,       BIT(LUAWEB_LOCATION)                                              },
    {RETRY_AFTER,    BIT(LUAWEB_RETRY_AFTER)                                           },
    {CACHING,        BIT(LUAWEB_CACHE_CONTROL) | BIT(LUAWEB_EXPIRES)                   },
    {VALIDATORS,     BIT(LUAWEB_ENTITY_TAG) | BIT(LUAWEB_LAST_MODIFIED)                },
    {VARIANT,        BIT(LUAWEB_AVAILABLE_MEDIA_TYPES) | BIT(LUAWEB_AVAILABLE_LANGUAGES)
                  | BIT(LUAWEB_AVAILABLE_CHARSETS)
                  | BIT(LUAWEB_AVAILABLE_CONTENT_CODINGS)                 },
    {VARY,           BIT(LUAWEB_VARY)                                                  },
    {OPTIONS,        BIT(LUAWEB_PATCH_MEDIA_TYPES) | BIT(LUAWEB_ACCEPTABLE_MEDIA_TYPES)},
    {ACCEPT_RANGES,  BIT(LUAWEB_ACCEPT_RANGES)                                         },
    {REFUSED_TYPE,   BIT(LUAWEB_ACCEPTABLE_MEDIA_TYPES)                                },
    {REFUSED_PATCH,  BIT(LUAWEB_PATCH_MEDIA_TYPES)                                     },
    {REFUSED_CODING, BIT(LUAWEB_ACCEPTABLE_CONTENT_CODINGS)                            },
};

static uint32_t groups_of_refusal(const struct lw_walk *walk)
{
    const struct lw_core *core = walk->machine->graph->rows[walk->row].core;
    int (*answer)(struct lw_walk *) = core ? core->answer : NULL;
    if (answer == lw_answer_content_coding_known)
        return REFUSED_CODING;
    if (answer == lw_answer_patch_type_taken)
        return REFUSED_PATCH;
    return answer == lw_answer_media_type_taken ? REFUSED_TYPE : 0;
}

static uint32_t groups_of_read(const struct lw_walk *walk)
{
    if (walk->status == 200)
        return CACHING | VALIDATORS | VARIANT | VARY | ACCEPT_RANGES;
    if (walk->status == 206)
        return CACHING | VALIDATORS | VARY | ACCEPT_RANGES | CONTENT_RANGE
               | (walk->present & LW_HAS_IF_RANGE ? 0U : VARIANT);
    return CACHING | VARY; /* 204 */
}

/* Of what was stored only the operation knows the validators (RFC 9110 §8.8,
 * §9.3.4). */
static uint32_t groups_of_success(const struct lw_walk *walk)
{
    uint32_t bit = walk->method->bit;
    uint32_t location = walk->status == 201 || walk->status == 202 ? LOCATION : 0;
    if (!lw_walk_is_regular(walk))
        return location;
    if (walk->facts & LW_FACT_PREFLIGHT)
        return 0;
    if (bit == LUAWEB_METHOD_OPTIONS)
        return ALLOW | OPTIONS | ACCEPT_RANGES;
    if (IS_READ(bit))
        return groups_of_read(walk);
    if (walk->status != 200)
        return location | VARY;
    const uint32_t writes =
        LUAWEB_METHOD_POST | LUAWEB_METHOD_PUT | LUAWEB_METHOD_PATCH;
    bool is_of_target = walk->facts & LW_FACT_SPOKEN && walk->method->bit & writes;
    return VARY | VARIANT | (is_of_target ? CONTENT_LOCATION : 0U);
}

static uint32_t groups_of_status(const struct lw_walk *walk)
{
    switch (walk->status) {
    case 200:
    case 201:
    case 202:
    case 204:
    case 206: return groups_of_success(walk);
    case 300: return LOCATION;
    case 301:
    case 302:
    case 303:
    case 307:
    case 308: return LOCATION | RETRY_AFTER;
    case 304: return CACHING | VALIDATORS | VARY;
    case 401: return CHALLENGE;
    case 405: return ALLOW;
    case 406: return VARY;
    case 413:
    case 429:
    case 503: return RETRY_AFTER;
    case 415: return groups_of_refusal(walk);
    case 416: return ACCEPT_RANGES | CONTENT_RANGE;
    default: return 0;
    }
}

/* What the app makes of a choice varies with it, be it a place or an error. */
static uint32_t groups(const struct lw_walk *walk)
{
    uint32_t varies = walk->facts & LW_FACT_LOOKED ? VARY : 0;
    return groups_of_status(walk) | varies;
}

uint32_t lw_fields_needs(const struct lw_walk *walk)
{
    uint32_t needs = 0;
    uint32_t wanted = groups(walk);
    if (walk->machine->asks == 0)
        return 0;
    for (size_t i = 0; i < sizeof needs_of / sizeof *needs_of; i++)
        if (wanted & needs_of[i][0])
            needs |= needs_of[i][1];
    return needs | lw_fields_type_needs(walk) | lw_cors_needs(walk);
}

/* Text of a property, where it has one. */
static void put_text(struct lw_lines *lines, const char *name,
                     enum luaweb_property property)
{
    struct lw_value value;
    if (lw_walk_value(lines->walk, property, &value) && value.text.size > 0)
        lw_lines_put(lines, name, value.text);
}

static void put_date(struct lw_lines *lines, const char *name,
                     enum luaweb_property property)
{
    char date[29];
    struct lw_value value;
    if (!lw_walk_value(lines->walk, property, &value) || !value.text.data)
        return;
    int64_t seconds = (int64_t)value.number;
    bool is_modified = property == LUAWEB_LAST_MODIFIED;
    if (is_modified && seconds > lines->walk->now)
        seconds = lines->walk->now; /* nothing was in the future (RFC 9110 §8.8.2.1) */
    if (lw_date_format(seconds, date))
        lw_lines_put(lines, name, lw_slice(date, sizeof date));
}

/* A list property as one line. */
static void put_list(struct lw_lines *lines, const char *name,
                     enum luaweb_property property)
{
    struct lw_list list;
    if (lw_walk_list(lines->walk, property, &list) && list.count > 0)
        lw_lines_put(lines, name, lw_lines_join(lines, &list));
}

static void put_retry_after(struct lw_lines *lines)
{
    struct lw_value value;
    if (!lw_walk_value(lines->walk, LUAWEB_RETRY_AFTER, &value) || !value.text.data)
        return;
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%.0f", value.number);
    if (value.text.size > 0)
        lw_lines_put(lines, "Retry-After", value.text);
    else if (size > 0)
        lw_lines_put(lines, "Retry-After", lw_slice(digits, (size_t)size));
}

static void put_challenges(struct lw_lines *lines)
{
    struct lw_list list;
    if (lw_lines_has(lines->fields, "WWW-Authenticate")
        || !lw_walk_list(lines->walk, LUAWEB_CHALLENGE, &list))
        return;
    for (uint32_t i = 0; i < list.count; i++)
        lw_lines_add(lines, "WWW-Authenticate", list.items[i]);
}

/* Only where there is no tag does a 304 say when the content was modified (RFC 9110
 * §15.4.5); a client that has the rest of the content has been told before
 * (§15.3.7). */
static void put_validators(struct lw_lines *lines)
{
    const struct lw_walk *walk = lines->walk;
    struct lw_value tag;
    bool has_tag =
        lw_walk_value(lines->walk, LUAWEB_ENTITY_TAG, &tag) && tag.text.size > 0;
    bool is_told = walk->status == 206 && walk->present & LW_HAS_IF_RANGE;
    if (walk->facts & LW_FACT_MISSING)
        return;
    put_text(lines, "ETag", LUAWEB_ENTITY_TAG);
    if (!is_told && (walk->status != 304 || !has_tag))
        put_date(lines, "Last-Modified", LUAWEB_LAST_MODIFIED);
}

/* Adds members to those of Vary, but one that is there already. */
static void vary_by(struct lw_list *list, struct luaweb_slice *items,
                    struct luaweb_slice members)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (lw_list_has(items[i], members))
            return;
    if (members.size > 0)
        items[list->count++] = members;
}

/* In one line. */
static void put_vary(struct lw_lines *lines, bool varies, bool has_cors,
                     bool is_problem)
{
    const struct lw_machine *machine = lines->walk->machine;
    struct luaweb_slice items[4];
    struct lw_list list = {items, 0};
    struct lw_list own;
    if (varies)
        vary_by(&list, items, machine->vary);
    if (varies && machine->values[LUAWEB_VARY].function
        && lw_walk_list(lines->walk, LUAWEB_VARY, &own))
        vary_by(&list, items, lw_lines_join(lines, &own));
    if (has_cors && !machine->is_open)
        vary_by(&list, items, LW_SLICE("Origin"));
    if (is_problem)
        vary_by(&list, items, LW_SLICE("Accept"));
    if (list.count > 0)
        lw_lines_add(lines, "Vary", lw_lines_join(lines, &list));
}

static void put_chosen(struct lw_lines *lines, const char *name, int dimension)
{
    struct lw_list list;
    int chosen = lw_walk_accept(lines->walk, dimension, &list);
    if (chosen <= 0) /* nor is "identity" a coding that is named (RFC 9110 §8.4.1) */
        return;
    if (!lw_slice_equal_nocase(list.items[chosen - 1], LW_SLICE("identity")))
        lw_lines_put(lines, name, list.items[chosen - 1]);
}

static void put_content_range(struct lw_lines *lines)
{
    char text[LW_RANGE_TEXT_MAX];
    struct lw_walk *walk = lines->walk;
    struct lw_range ranges[LW_RANGES_MAX];
    uint32_t count = 0;
    size_t size = 0;
    if (walk->status == 416 && walk->size == UINT64_MAX)
        return; /* only the app knows, which has answered so */
    if (walk->status == 416)
        size = lw_range_write_unsatisfiable(walk->size, text);
    else if (lw_range_read(walk->request->headers, walk->size, ranges, &count)
                 == LW_RANGE_FITS
             && count == 1)
        size = lw_range_write(ranges[0], walk->size, text);
    if (size > 0)
        lw_lines_put(lines, "Content-Range", lw_slice(text, size));
}

static void put_options(struct lw_lines *lines)
{
    const struct lw_machine *machine = lines->walk->machine;
    if (lw_machine_find(machine, LW_SLICE("PATCH")))
        put_list(lines, "Accept-Patch", LUAWEB_PATCH_MEDIA_TYPES);
    if (lw_machine_find(machine, LW_SLICE("POST")))
        put_list(lines, "Accept-Post", LUAWEB_ACCEPTABLE_MEDIA_TYPES);
}

static void put_accept_ranges(struct lw_lines *lines)
{
    struct lw_value value;
    if (lw_walk_value(lines->walk, LUAWEB_ACCEPT_RANGES, &value) && value.number != 0)
        lw_lines_put(lines, "Accept-Ranges", LW_SLICE("bytes"));
}

/* 412 needs none of these; what was refused is told what would not have been. */
static void put_refusal(struct lw_lines *lines, uint32_t wanted)
{
    if (wanted & REFUSED_TYPE) {
        put_list(lines, "Accept", LUAWEB_ACCEPTABLE_MEDIA_TYPES);
        if (lines->walk->method->bit == LUAWEB_METHOD_POST)
            put_list(lines, "Accept-Post", LUAWEB_ACCEPTABLE_MEDIA_TYPES);
    }
    if (wanted & REFUSED_PATCH)
        put_list(lines, "Accept-Patch", LUAWEB_PATCH_MEDIA_TYPES);
    if (wanted & REFUSED_CODING) {
        struct lw_list known;
        lw_walk_list(lines->walk, LUAWEB_ACCEPTABLE_CONTENT_CODINGS, &known);
        lw_lines_put(lines, "Accept-Encoding",
                     known.count > 0 ? lw_lines_join(lines, &known)
                                     : LW_SLICE("identity"));
    }
}

static void put_groups(struct lw_lines *lines, uint32_t wanted)
{
    struct lw_walk *walk = lines->walk;
    uint32_t has = walk->machine->has;
    if (wanted & ALLOW)
        lw_lines_put(lines, "Allow",
                     lw_slice(walk->machine->allow, strlen(walk->machine->allow)));
    if (wanted & CHALLENGE)
        put_challenges(lines);
    if (wanted & LOCATION)
        put_text(lines, "Location", LUAWEB_LOCATION);
    if (wanted & RETRY_AFTER)
        put_retry_after(lines);
    if (wanted & CACHING && has & (BIT(LUAWEB_CACHE_CONTROL) | BIT(LUAWEB_EXPIRES))) {
        put_text(lines, "Cache-Control", LUAWEB_CACHE_CONTROL);
        put_date(lines, "Expires", LUAWEB_EXPIRES);
    }
    if (wanted & VALIDATORS)
        put_validators(lines);
    if (wanted & VARIANT) {
        put_chosen(lines, "Content-Language", LW_ACCEPT_LANGUAGE);
        put_chosen(lines, "Content-Encoding", LW_ACCEPT_CODING);
    }
    if (wanted & CONTENT_LOCATION)
        lw_lines_put(lines, "Content-Location", walk->request->target);
    if (wanted & OPTIONS)
        put_options(lines);
    if (wanted & ACCEPT_RANGES)
        put_accept_ranges(lines);
    if (wanted & CONTENT_RANGE)
        put_content_range(lines);
    if (wanted & (REFUSED_TYPE | REFUSED_PATCH | REFUSED_CODING))
        put_refusal(lines, wanted);
}

void lw_fields_write(struct lw_walk *walk, bool is_problem, struct lw_buffer *fields,
                     struct lw_blocks *blocks)
{
    struct lw_lines lines = {walk, fields, blocks};
    uint32_t wanted = groups(walk);
    bool has_cors = lw_cors_concerns(walk);
    bool is_plain = walk->machine->has == 0 && !has_cors && !is_problem;
    if (is_plain
        && !(wanted & (ALLOW | CONTENT_RANGE | CONTENT_LOCATION | REFUSED_CODING)))
        return;
    put_groups(&lines, wanted);
    put_vary(&lines, wanted & VARY, has_cors, is_problem);
    if (has_cors)
        lw_cors_write(&lines);
}

bool lw_fields_lack(const struct lw_walk *walk, const struct lw_buffer *fields)
{
    int status = walk->status;
    bool is_redirect = status > 300 && status < 400 && status != 304;
    if (status == 401)
        return !lw_lines_has(fields, "WWW-Authenticate");
    return is_redirect && !lw_lines_has(fields, "Location");
}
