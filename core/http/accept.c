/* SPDX-License-Identifier: MIT
 *
 * Chooses among offers.  An offer has a rank: twice its weight, which leaves room for
 * an `identity` that the client does not speak of, below all that it asks for and above
 * what it refuses.  RFC 9110 §12.4, §12.5, RFC 4647 §3.3.1, §3.4. */
#include "http/accept.h"

#include <assert.h>

#include "base/require.h"
#include "http/accept_list.h"
#include "http/media_type.h"

#define MOST_RANK     (2 * LW_ACCEPT_WHOLE)
#define UNSPOKEN_RANK 1
#define IDENTITY      LW_SLICE("identity")

/* How specific a match is; what makes one of a kind more specific goes between. */
enum fit {
    FIT_NONE = 0,
    FIT_ANY = 0x100,    /* a star */
    FIT_LOOKUP = 0x200, /* a language that the client wants in a narrower form */
    FIT_TYPE = 0x200,   /* a type and a star */
    FIT_NAME = 0x300
};

static_assert(LW_ACCEPT_PARAMETERS < FIT_TYPE - FIT_ANY,
              "parameters make no match one of another kind");

static bool is_star(struct luaweb_slice range)
{
    return range.size == 1 && range.data[0] == '*';
}

/* The parameters are not compared yet: they have not been read. */
static uint32_t fit_media_type(const struct lw_media_type *offer,
                               struct luaweb_slice range)
{
    if (range.size > 2 && memcmp(range.data + range.size - 2, "/*", 2) == 0) {
        struct luaweb_slice type = lw_slice(range.data, range.size - 2);
        if (is_star(type))
            return FIT_ANY;
        return lw_slice_equal_nocase(type, offer->type) ? FIT_TYPE : FIT_NONE;
    }
    return lw_slice_equal_nocase(range, offer->name) ? FIT_NAME : FIT_NONE;
}

/* Whether `tag` is `range` or goes on behind it with a hyphen (RFC 4647 §3.3.1). */
static bool is_within(struct luaweb_slice tag, struct luaweb_slice range)
{
    if (tag.size < range.size || (tag.size > range.size && tag.data[range.size] != '-'))
        return false;
    return lw_slice_equal_nocase(lw_slice(tag.data, range.size), range);
}

static uint32_t fit_language(const struct lw_media_type *offer,
                             struct luaweb_slice range)
{
    if (is_star(range))
        return FIT_ANY;
    if (range.size > 0 && is_within(offer->name, range))
        return FIT_NAME + (uint32_t)range.size;
    if (is_within(range, offer->name) && lw_accept_is_range(LW_ACCEPT_LANGUAGE, range))
        return FIT_LOOKUP;
    return FIT_NONE;
}

static uint32_t fit_charset(const struct lw_media_type *offer,
                            struct luaweb_slice range)
{
    if (is_star(range))
        return FIT_ANY;
    return lw_slice_equal_nocase(range, offer->name) ? FIT_NAME : FIT_NONE;
}

/* Without the x- of two old names (RFC 9110 §8.4.1). */
static struct luaweb_slice coding_name(struct luaweb_slice name)
{
    if (lw_slice_equal_nocase(name, LW_SLICE("x-gzip"))
        || lw_slice_equal_nocase(name, LW_SLICE("x-compress")))
        return lw_slice(name.data + 2, name.size - 2);
    return name;
}

static uint32_t fit_coding(const struct lw_media_type *offer, struct luaweb_slice range)
{
    return fit_charset(offer, coding_name(range));
}

typedef uint32_t fit_function(const struct lw_media_type *offer,
                              struct luaweb_slice range);

static fit_function *const fit_functions[] = {
    [LW_ACCEPT_MEDIA_TYPE] = fit_media_type,
    [LW_ACCEPT_LANGUAGE] = fit_language,
    [LW_ACCEPT_CHARSET] = fit_charset,
    [LW_ACCEPT_CODING] = fit_coding,
};

/* What `fit` becomes with parameters and weight in sight.  A refused language says
 * nothing of the wider one: there is no lookup by it. */
static uint32_t refine(enum lw_accept dimension, uint32_t fit,
                       const struct lw_accept_member *member,
                       const struct lw_media_type *offer)
{
    if (dimension == LW_ACCEPT_LANGUAGE && fit == FIT_LOOKUP && member->weight == 0)
        return FIT_NONE;
    if (dimension != LW_ACCEPT_MEDIA_TYPE || member->parameter_count == 0)
        return fit;
    struct lw_media_type pattern = *offer; /* their names match already */
    pattern.parameters = member->parameters;
    return lw_media_type_match(offer, &pattern) ? fit + member->parameter_count
                                                : FIT_NONE;
}

/* Finds the member that decides on the offer: FIT_NONE, or how specific it is. */
static uint32_t match(enum lw_accept dimension, struct lw_accept_list *list,
                      const struct lw_media_type *offer, uint32_t *weight)
{
    uint32_t best = FIT_NONE;
    *weight = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        struct lw_accept_member *member = &list->members[i];
        uint32_t fit = fit_functions[dimension](offer, member->range);
        if (fit == FIT_NONE || fit + LW_ACCEPT_PARAMETERS < best
            || !lw_accept_read_member(list, member))
            continue;
        fit = refine(dimension, fit, member, offer);
        if (fit < best || fit == FIT_NONE)
            continue;
        if (fit > best || member->weight > *weight)
            *weight = member->weight;
        best = fit;
    }
    return best;
}

/* Whether the list says anything; asked only where nothing of it matches. */
static bool has_meaning(enum lw_accept dimension, struct lw_accept_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (lw_accept_is_range(dimension, list->members[i].range)
            && lw_accept_read_member(list, &list->members[i]))
            return true;
    return false;
}

static size_t size_before(struct luaweb_slice text, char octet)
{
    const char *at = text.size > 0 ? memchr(text.data, octet, text.size) : NULL;
    return at ? (size_t)(at - text.data) : text.size;
}

/* What the dimension compares.  The app wrote the offer: it is well-formed. */
static struct lw_media_type read_offer(enum lw_accept dimension,
                                       struct luaweb_slice text)
{
    struct lw_media_type offer = {.name = text};
    if (dimension == LW_ACCEPT_CODING)
        offer.name = coding_name(text);
    if (dimension == LW_ACCEPT_MEDIA_TYPE) {
        size_t size = size_before(text, ';');
        offer.name = lw_slice_trim(lw_slice(text.data, size));
        offer.type = lw_slice(text.data, size_before(text, '/'));
        if (size < text.size)
            offer.parameters = lw_slice(text.data + size, text.size - size);
    }
    return offer;
}

static uint32_t rank_of(enum lw_accept dimension, struct lw_accept_list *list,
                        struct luaweb_slice text)
{
    uint32_t weight;
    if (!list->is_sent)
        return MOST_RANK;
    struct lw_media_type offer = read_offer(dimension, text);
    if (match(dimension, list, &offer, &weight) != FIT_NONE)
        return 2 * weight;
    if (dimension == LW_ACCEPT_CODING)
        return lw_slice_equal_nocase(text, IDENTITY) ? UNSPOKEN_RANK : 0;
    return has_meaning(dimension, list) ? 0 : MOST_RANK;
}

/* The first offer of the highest rank that is at least `least`; -1: there is none. */
static int choose(enum lw_accept dimension, struct lw_accept_list *list,
                  const struct luaweb_slice *offers, uint32_t count, uint32_t least)
{
    int best = -1;
    lw_require(count <= INT32_MAX);
    for (uint32_t i = 0; i < count && least <= MOST_RANK; i++) {
        uint32_t rank = rank_of(dimension, list, offers[i]);
        if (rank < least)
            continue;
        best = (int)i;
        least = rank + 1;
    }
    return best;
}

int lw_accept_choose(enum lw_accept dimension, struct luaweb_fields headers,
                     const struct luaweb_slice *offers, uint32_t count)
{
    struct lw_accept_list list;
    lw_accept_read(dimension, headers, &list);
    return choose(dimension, &list, offers, count, 1);
}

int lw_accept_choose_coding(struct luaweb_fields headers,
                            const struct luaweb_slice *offers, uint32_t count)
{
    struct lw_accept_list list;
    lw_accept_read(LW_ACCEPT_CODING, headers, &list);
    uint32_t identity = rank_of(LW_ACCEPT_CODING, &list, IDENTITY);
    return choose(LW_ACCEPT_CODING, &list, offers, count, identity > 0 ? identity : 1);
}

bool lw_accept_identity(struct luaweb_fields headers)
{
    return lw_accept_quality(LW_ACCEPT_CODING, headers, IDENTITY) > 0;
}

int lw_accept_quality(enum lw_accept dimension, struct luaweb_fields headers,
                      struct luaweb_slice offer)
{
    struct lw_accept_list list;
    lw_accept_read(dimension, headers, &list);
    return (int)((rank_of(dimension, &list, offer) + 1) / 2);
}
