/* SPDX-License-Identifier: MIT
 *
 * Questions on preconditions, on what was done, and on ranges (RFC 9110 §13, §14).
 * What is to be created has neither a tag nor a date that could match. */
#include "machine/answers.h"

#include "base/date.h"
#include "base/slice.h"
#include "http/accept.h"
#include "http/etag.h"
#include "http/fields.h"
#include "http/range.h"

#define READS (LUAWEB_METHOD_GET | LUAWEB_METHOD_HEAD)

/* Known before the representation is made: a tag that is older than what it goes with
 * only costs a transfer, one that is newer would keep the old content for ever. */
#define BEFORE_REPLY (1U << LUAWEB_ENTITY_TAG | 1U << LUAWEB_LAST_MODIFIED)

static bool is_missing(const struct lw_walk *walk)
{
    return walk->facts & LW_FACT_MISSING;
}

/* The only line of this field, or NULL. */
static const struct luaweb_field *only_line(const struct lw_walk *walk, uint32_t bit)
{
    return walk->present & bit ? lw_fields_only(walk->request->headers, bit) : NULL;
}

/* The date of the only line of this field.  false: there is no such line, or no date:
 * then the field does not count (RFC 9110 §13.1.3, §13.1.4). */
static bool read_date(const struct lw_walk *walk, uint32_t bit, int64_t *date)
{
    const struct luaweb_field *line = only_line(walk, bit);
    return line && lw_date_parse(line->value, walk->now, date);
}

/* The current modification date.  LW_ASK, 0: there is none, 1. */
static int modified(struct lw_walk *walk, int64_t *date)
{
    struct lw_value value;
    if (is_missing(walk))
        return 0;
    if (!lw_walk_value(walk, LUAWEB_LAST_MODIFIED, &value))
        return LW_ASK;
    if (!value.text.data)
        return 0;
    *date = (int64_t)value.number; /* whole seconds: Lua has cut it */
    return 1;
}

/* The current tag, empty where there is none.  false: ask. */
static bool current_tag(struct lw_walk *walk, struct luaweb_slice *tag)
{
    struct lw_value value;
    *tag = lw_slice(NULL, 0);
    if (is_missing(walk))
        return true;
    if (!lw_walk_value(walk, LUAWEB_ENTITY_TAG, &value))
        return false;
    *tag = value.text;
    return true;
}

int lw_answer_precondition_given(struct lw_walk *walk)
{
    const uint32_t dates = LW_HAS_IF_MODIFIED_SINCE | LW_HAS_IF_UNMODIFIED_SINCE;
    int64_t date;
    if (walk->present & (LW_HAS_IF_MATCH | LW_HAS_IF_NONE_MATCH))
        return LUAWEB_ANSWER_YES;
    if (!(walk->present & dates)
        || !lw_machine_has(walk->machine, LUAWEB_LAST_MODIFIED))
        return LUAWEB_ANSWER_NO;
    bool counts = read_date(walk, LW_HAS_IF_UNMODIFIED_SINCE, &date)
                  || (walk->method->bit & READS
                      && read_date(walk, LW_HAS_IF_MODIFIED_SINCE, &date));
    return counts ? modified(walk, &date) : LUAWEB_ANSWER_NO;
}

int lw_answer_if_match_holds(struct lw_walk *walk)
{
    struct luaweb_slice tag;
    if (!(walk->present & LW_HAS_IF_MATCH))
        return LUAWEB_ANSWER_YES;
    if (!current_tag(walk, &tag))
        return LW_ASK;
    enum lw_etag_match match =
        lw_etag_list(walk->request->headers, LW_HAS_IF_MATCH, tag, true);
    return match == LW_ETAG_STAR ? !is_missing(walk) : match == LW_ETAG_MATCH;
}

bool lw_unmodified_since(const struct lw_walk *walk, int64_t *date)
{
    return !(walk->present & LW_HAS_IF_MATCH)
           && read_date(walk, LW_HAS_IF_UNMODIFIED_SINCE, date);
}

int lw_answer_if_unmodified_since_holds(struct lw_walk *walk)
{
    int64_t asked;
    int64_t ours;
    if (!lw_unmodified_since(walk, &asked))
        return LUAWEB_ANSWER_YES;
    int has_date = modified(walk, &ours);
    return has_date == 1 ? ours <= asked : has_date == 0 ? LUAWEB_ANSWER_YES : LW_ASK;
}

int lw_answer_if_none_match_holds(struct lw_walk *walk)
{
    struct luaweb_slice tag;
    if (!(walk->present & LW_HAS_IF_NONE_MATCH))
        return LUAWEB_ANSWER_YES;
    if (!current_tag(walk, &tag))
        return LW_ASK;
    enum lw_etag_match match =
        lw_etag_list(walk->request->headers, LW_HAS_IF_NONE_MATCH, tag, false);
    return match == LW_ETAG_STAR ? is_missing(walk) : match != LW_ETAG_MATCH;
}

int lw_answer_if_modified_since_holds(struct lw_walk *walk)
{
    int64_t asked;
    int64_t ours;
    if (walk->present & LW_HAS_IF_NONE_MATCH
        || !read_date(walk, LW_HAS_IF_MODIFIED_SINCE, &asked))
        return LUAWEB_ANSWER_YES;
    int has_date = modified(walk, &ours);
    return has_date == 1 ? ours > asked : has_date == 0 ? LUAWEB_ANSWER_YES : LW_ASK;
}

int lw_answer_created(struct lw_walk *walk)
{
    return is_missing(walk);
}

/* Reads run what makes the representation; after a write it speaks where the operation
 * said nothing, but never after DELETE, which would look up what is gone. */
int lw_answer_has_reply(struct lw_walk *walk)
{
    const struct lw_machine *machine = walk->machine;
    const struct lw_method *method = walk->method;
    struct lw_list types;
    if (walk->facts & LW_FACT_KEPT)
        return LUAWEB_ANSWER_YES;
    if (method->bit == LUAWEB_METHOD_DELETE)
        return LUAWEB_ANSWER_NO;
    if (method->bit & READS && !lw_walk_know(walk, BEFORE_REPLY))
        return LW_ASK;
    walk->function = method->reply;
    if (machine->offers[0] && method->bit != LUAWEB_METHOD_OPTIONS) {
        int chosen = lw_walk_accept(walk, LW_ACCEPT_MEDIA_TYPE, &types);
        walk->function = chosen > 0 ? machine->offers[chosen - 1] : machine->offers[0];
    }
    if (!(method->bit & (READS | LUAWEB_METHOD_OPTIONS)))
        walk->facts |= LW_FACT_SPOKEN;
    if (walk->function)
        return LW_ASK;
    return method->bit != LUAWEB_METHOD_OPTIONS
           && lw_machine_handler(machine, 200) != NULL;
}

int lw_answer_range_wanted(struct lw_walk *walk)
{
    struct lw_value value;
    if (!(walk->present & LW_HAS_RANGE) || (int64_t)walk->size < 0)
        return LUAWEB_ANSWER_NO;
    if (!lw_walk_value(walk, LUAWEB_ACCEPT_RANGES, &value))
        return LW_ASK;
    return value.text.data && value.number != 0
           && lw_range_wanted(walk->request->headers);
}

/* A date is compared exactly, and is strong only when it is old enough; a weak tag
 * never holds (RFC 9110 §13.1.5, §8.8.2.2). */
int lw_answer_if_range_holds(struct lw_walk *walk)
{
    struct luaweb_slice tag;
    int64_t asked;
    int64_t ours;
    if (!(walk->present & LW_HAS_IF_RANGE))
        return LUAWEB_ANSWER_YES;
    const struct luaweb_field *field = only_line(walk, LW_HAS_IF_RANGE);
    if (field && lw_etag_valid(field->value)) {
        if (!current_tag(walk, &tag))
            return LW_ASK;
        return lw_etag_equal_strong(field->value, tag);
    }
    if (!read_date(walk, LW_HAS_IF_RANGE, &asked))
        return LUAWEB_ANSWER_NO;
    int has_date = modified(walk, &ours);
    return has_date == 1 ? ours == asked && ours < walk->now : has_date;
}

int lw_answer_range_fits(struct lw_walk *walk)
{
    struct lw_range ranges[LW_RANGES_MAX];
    uint32_t count;
    return lw_range_read(walk->request->headers, walk->size, ranges, &count)
           == LW_RANGE_FITS;
}
