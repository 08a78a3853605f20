/* SPDX-License-Identifier: MIT
 *
 * Backtracking over the parts of a template, which remembers what failed: an expression
 * is tried once from each place of the text. */
#include "route/settle.h"

#include <string.h>

#include "base/slice.h"

#define MOST_WORDS 128 /* of 64 places; longer texts are not remembered */

struct settling {
    const struct lw_template *template;
    struct lw_match *match;
    uint32_t part_count;
    uint32_t present;
    uint32_t words;   /* of each expression in `failed`, 0: nothing is remembered */
    uint64_t *failed; /* the places that an expression failed from */
    struct lw_span *spans;
};

static bool settle_parts(const struct settling *s, uint32_t number, uint32_t at);

static bool starts_with(struct luaweb_slice text, uint32_t at, struct luaweb_slice part)
{
    return part.size <= text.size - at
           && memcmp(text.data + at, part.data, part.size) == 0;
}

/* Whether it is of any use that an expression ends at `at`. */
static bool goes_on(const struct settling *s, uint32_t next, uint32_t at)
{
    struct luaweb_slice text = s->match->text;
    if (next == s->part_count)
        return at == text.size;
    struct luaweb_slice literal = s->template->parts[next].literal;
    return literal.size == 0 || starts_with(text, at, literal);
}

/* Tries all ends for an expression that begins at `at`, the last one first. */
static bool try_ends(const struct settling *s, uint32_t number, uint32_t at)
{
    uint32_t which = s->template->parts[number].expression;
    const struct lw_expression *expression = &s->template->expressions[which];
    struct lw_match *match = s->match;
    struct lw_span span = {at, at};
    if (!lw_span_starts(expression, match->text, at))
        return false;
    span.end = lw_span_reach(expression, s->template, match->text, at);
    if (!lw_match_pay(match, span.end - at))
        return false;
    for (; span.end > at; span.end--) {
        if (!goes_on(s, number + 1, span.end))
            continue;
        if (lw_operators[expression->op].is_named
            && !lw_match_pay(match, span.end - at))
            return false;
        s->spans[which] = span;
        if (lw_span_valid(expression, s->template, match->text, span)
            && settle_parts(s, number + 1, span.end))
            return true;
    }
    return false;
}

static bool settle_expression(const struct settling *s, uint32_t number, uint32_t at)
{
    uint32_t which = s->template->parts[number].expression;
    if (s->words == 0)
        return try_ends(s, number, at);
    uint64_t *word = &s->failed[s->words * which + at / 64];
    uint64_t bit = (uint64_t)1 << at % 64;
    if (*word & bit)
        return false;
    if (try_ends(s, number, at))
        return true;
    *word |= bit;
    return false;
}

static bool settle_parts(const struct settling *s, uint32_t number, uint32_t at)
{
    struct luaweb_slice text = s->match->text;
    if (!lw_match_pay(s->match, 0))
        return false;
    for (; number < s->part_count; number++) {
        struct luaweb_slice literal = s->template->parts[number].literal;
        uint32_t which = s->template->parts[number].expression;
        if (literal.size == 0 && s->present >> which & 1)
            return settle_expression(s, number, at);
        if (literal.size > 0 && !starts_with(text, at, literal))
            return false;
        at += (uint32_t)literal.size;
    }
    return at == text.size;
}

bool lw_settle(const struct lw_entry *entry, uint32_t present, struct lw_match *match)
{
    uint64_t failed[MOST_WORDS * LW_TEMPLATE_VARIABLES];
    struct lw_span spans[LW_TEMPLATE_VARIABLES] = {
        {0, 0}
    };
    size_t words = match->text.size / 64 + 1;
    struct settling settling = {
        .template = entry->template,
        .match = match,
        .part_count = entry->part_count,
        .present = present,
        .words = words > MOST_WORDS ? 0 : (uint32_t)words,
        .failed = failed,
        .spans = spans,
    };
    memset(failed, 0, sizeof *failed * settling.words * LW_TEMPLATE_VARIABLES);
    if (!settle_parts(&settling, 0, 0))
        return false;
    memcpy(match->spans, spans, sizeof spans);
    return true;
}
