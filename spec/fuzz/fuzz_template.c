/* SPDX-License-Identifier: MIT
 *
 * Fuzzes templates, the tree of them, matching and capturing.  The input is a path and,
 * behind line feeds, templates.  A path is found where going through all ways to read a
 * template finds it, and only there; with many templates where with one of them.  Spans
 * and literals are the path again, values lie in it, and no path costs more steps than
 * allowed.  RFC 6570; RFC 3986
 * §6.2.2. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/require.h"
#include "base/slice.h"
#include "route/capture.h"
#include "route/path.h"
#include "route/router.h"
#include "route/value.h"

#define MOST_TEMPLATES 8
#define MOST_OCTETS    256 /* of a path that is gone through in all ways */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool lies_in(struct luaweb_slice part, struct luaweb_slice whole)
{
    return part.size == 0
           || (part.data >= whole.data
               && part.data + part.size <= whole.data + whole.size);
}

/* Literals and spans, one behind the other, are the path. */
static void check_spans(const struct lw_match *match)
{
    const struct lw_template *template = match->entry->template;
    uint32_t at = 0;
    for (uint32_t i = 0; i < match->entry->part_count; i++) {
        const struct lw_part *part = &template->parts[i];
        if (part->literal.size > 0) {
            struct luaweb_slice here = {match->text.data + at, part->literal.size};
            lw_require(at + part->literal.size <= match->text.size);
            lw_require(lw_slice_equal(here, part->literal));
            at += (uint32_t)part->literal.size;
            continue;
        }
        struct lw_span span = match->spans[part->expression];
        if (span.start == span.end)
            continue;
        lw_require(span.start == at && span.end > at);
        lw_require(lw_span_valid(&template->expressions[part->expression], template,
                                 match->text, span));
        at = span.end;
    }
    lw_require(at == match->text.size);
}

/* Values lie in the text that they come from, those of one variable together. */
static void check_captures(const struct lw_match *match)
{
    const struct lw_template *template = match->entry->template;
    struct lw_captures captures;
    struct lw_capture capture;
    uint32_t last = 0;
    uint32_t seen = 0;
    lw_captures_start(&captures, match);
    while (lw_captures_next(&captures, &capture)) {
        struct luaweb_slice text = capture.is_query ? match->query : match->text;
        bool is_new = !(seen >> capture.variable & 1);
        lw_require(capture.variable < template->variable_count);
        lw_require(is_new || last == capture.variable);
        lw_require(is_new || capture.kind != LUAWEB_PARAM_TEXT);
        lw_require(lies_in(capture.value, text) && lies_in(capture.key, text));
        lw_require(capture.kind != LUAWEB_PARAM_PAIR || capture.key.size > 0);
        for (int demand = LUAWEB_DEMAND_NONE; demand <= LUAWEB_DEMAND_UUID; demand++)
            lw_value_meets((enum luaweb_demand)demand, capture.value);
        last = capture.variable;
        seen |= 1U << capture.variable;
    }
    lw_require(!lw_captures_next(&captures, &capture));
}

/* The places where the text can stand behind an expression, from those before it. */
static void pass(const struct lw_template *template, const struct lw_part *part,
                 struct luaweb_slice path, bool *places)
{
    const struct lw_expression *expression = &template->expressions[part->expression];
    for (uint32_t at = (uint32_t)path.size + 1; at-- > 0;) {
        if (!places[at] || !lw_span_starts(expression, path, at))
            continue;
        uint32_t end = lw_span_reach(expression, template, path, at);
        for (struct lw_span span = {at, end}; span.end > at; span.end--)
            places[span.end] |= lw_span_valid(expression, template, path, span);
    }
}

/* Whether there is any way to read the path by the first parts of a template. */
static bool can_be_read(const struct lw_entry *entry, struct luaweb_slice path)
{
    bool places[MOST_OCTETS + 1] = {true};
    for (uint32_t i = 0; i < entry->part_count; i++) {
        const struct lw_part *part = &entry->template->parts[i];
        size_t size = part->literal.size;
        if (size == 0) {
            pass(entry->template, part, path, places);
            continue;
        }
        for (size_t at = path.size + 1; at-- > 0;)
            places[at] =
                at >= size && places[at - size]
                && memcmp(path.data + at - size, part->literal.data, size) == 0;
    }
    return places[path.size];
}

static bool check_match(const struct lw_trie *trie, struct luaweb_slice path)
{
    struct lw_match match;
    bool is_found = lw_trie_match(trie, path, &match);
    lw_require(match.steps <= LW_MATCH_STEPS);
    lw_require(is_found == (match.route != LW_NO_ROUTE));
    if (!is_found)
        return match.steps == LW_MATCH_STEPS; /* nobody knows */
    check_spans(&match);
    check_captures(&match);
    match.query = path;
    check_captures(&match);
    return true;
}

/* Holds a trie of one template against what can be read at all. */
static void check_reading(const struct lw_trie *trie, const struct lw_entry *entry,
                          struct luaweb_slice path)
{
    struct lw_match match;
    if (path.size > MOST_OCTETS)
        return;
    bool is_found = lw_trie_match(trie, path, &match);
    bool has_stopped = match.steps == LW_MATCH_STEPS;
    lw_require(has_stopped || is_found == can_be_read(entry, path));
}

/* All parts of one template, of the query too. */
static void check_alone(struct luaweb_slice text, struct luaweb_slice path)
{
    const char *why = NULL;
    struct lw_template *template = lw_template_new(text, &why);
    if (!template) {
        lw_require(why);
        return;
    }
    struct lw_entry entry = {template, template->part_count, 0, 0};
    struct lw_trie trie;
    lw_trie_construct(&trie, &entry, 1);
    check_match(&trie, path);
    check_reading(&trie, &entry, path);
    lw_trie_destruct(&trie);
    lw_template_free(template);
}

/* Whether one of the router's templates matches alone. */
static bool matches_one(const struct lw_router *router, struct luaweb_slice path)
{
    bool is_found = false;
    for (uint32_t i = 0; i < router->count; i++) {
        struct lw_trie trie;
        lw_trie_construct(&trie, &router->entries[i], 1);
        is_found |= check_match(&trie, path);
        lw_trie_destruct(&trie);
    }
    return is_found;
}

static void check_together(struct lw_router *router, struct luaweb_slice path)
{
    int32_t hidden = LW_NO_ROUTE;
    int32_t winner = LW_NO_ROUTE;
    if (!lw_router_build(router, &hidden, &winner))
        lw_require(hidden >= 0 && winner >= 0 && hidden != winner);
    bool is_found = check_match(&router->trie, path);
    bool is_found_alone = matches_one(router, path);
    struct lw_match match;
    lw_router_match(router, path, &match);
    if (match.steps < LW_MATCH_STEPS)
        lw_require(is_found || !is_found_alone);
    lw_require(!is_found || is_found_alone || match.steps == LW_MATCH_STEPS);
}

/* The path in normal form, which is its own normal form; false: it has none. */
static bool normalise(struct luaweb_slice raw, char *out, struct luaweb_slice *path)
{
    size_t size = 0;
    size_t again = 0;
    if (!lw_path_normalise(raw, out, &size))
        return false;
    lw_require(size <= raw.size);
    if (lw_path_is_normal(raw))
        lw_require(lw_slice_equal(raw, lw_slice(out, size)));
    char *copy = lw_alloc(size);
    lw_require(lw_path_normalise(lw_slice(out, size), copy, &again));
    lw_require(lw_slice_equal(lw_slice(copy, again), lw_slice(out, size)));
    free(copy);
    *path = lw_slice(out, size);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct luaweb_slice rest = {(const char *)data, size};
    struct luaweb_slice raw = lw_path_cut(&rest, '\n');
    struct luaweb_slice path;
    char *out = lw_alloc(raw.size);
    struct lw_router router;
    if (!normalise(raw, out, &path)) {
        free(out);
        return 0;
    }
    lw_router_construct(&router);
    while (rest.data && router.count < MOST_TEMPLATES) {
        struct luaweb_slice text = lw_path_cut(&rest, '\n');
        struct lw_refusal refusal;
        uint32_t count = router.count;
        int32_t number = lw_router_add(&router, text, &refusal);
        lw_require(number != LW_NO_ROUTE || refusal.why);
        lw_require(number == LW_NO_ROUTE || number <= (int32_t)count);
        check_alone(text, path);
    }
    check_together(&router, path);
    lw_router_destruct(&router);
    free(out);
    return 0;
}
