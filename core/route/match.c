/* SPDX-License-Identifier: MIT
 *
 * The search looks for the template first: it goes through the tree in the order of
 * preference, with all the places of the text where it may stand, from `low` to `high`.
 * Mostly there is but one of them; then the spans are known on the way.  If not, the
 * template that was come to is held against the text alone (lw_settle).  What a client
 * sends can't make it long: steps are counted. */
#include "route/match.h"

#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "base/slice.h"
#include "route/settle.h"

static_assert(sizeof((struct lw_match *)0)->spans / sizeof(struct lw_span)
                  == LW_TEMPLATE_VARIABLES,
              "an expression has a span");

#define OCTETS_PER_STEP 64 /* so many are looked at for the price of a step */

struct search {
    const struct lw_trie *trie;
    struct lw_match *match;
    const char *text;
    uint32_t size;
};

/* Where the search stands in the text. */
struct stand {
    uint32_t low, high;         /* somewhere from here to there */
    const struct lw_node *open; /* an expression whose text has no end yet, or NULL */
    uint8_t open_span;          /* its number */
    uint8_t depth;              /* expressions so far */
    bool is_vague;              /* the spans of some are not known */
    bool at_slash;              /* literal text is to begin with a slash, or never */
    uint16_t present;           /* bits of those that have text */
};

static bool explore(const struct search *s, const struct lw_node *node,
                    const struct stand *stand);

bool lw_match_pay(struct lw_match *match, uint32_t octets)
{
    uint32_t price = 1 + octets / OCTETS_PER_STEP;
    if (price > LW_MATCH_STEPS - match->steps) {
        match->steps = LW_MATCH_STEPS;
        return false;
    }
    match->steps += price;
    return true;
}

static bool has_stopped(const struct search *s)
{
    return s->match->steps == LW_MATCH_STEPS;
}

static const char *octets_of(const struct search *s, const union lw_octets *octets,
                             size_t size)
{
    return size <= sizeof octets->here ? octets->here : s->trie->pool + octets->pool;
}

/* The template of the node's expression, where it matters. */
static const struct lw_template *template_of(const struct search *s,
                                             const struct lw_node *node)
{
    bool matters = node->hop.has_prefix || lw_operators[node->hop.op].is_named;
    return matters ? s->trie->entries[node->entry].template : NULL;
}

/* The place of an octet among those that literal text begins with here, or NULL. */
static const char *find_octet(const char *octets, uint32_t count, char octet)
{
    if (count > 1)
        return memchr(octets, octet, count);
    return count == 1 && *octets == octet ? octets : NULL;
}

/* The literal child whose text is at `at`, or NULL. */
static const struct lw_node *literal_child(const struct search *s,
                                           const struct lw_node *node, uint32_t at)
{
    if (at == s->size)
        return NULL;
    const char *octets = octets_of(s, &node->octets, node->literal_count);
    const char *found = find_octet(octets, node->literal_count, s->text[at]);
    if (!found)
        return NULL;
    const struct lw_node *child = &s->trie->nodes[node->children + (found - octets)];
    uint32_t size = child->label_size;
    const char *label = octets_of(s, &child->label, size);
    return size <= s->size - at && memcmp(label, s->text + at, size) == 0 ? child
                                                                          : NULL;
}

/* Ends the text of the open expression somewhere from `low` to `high`; false when it
 * can't end there. */
static bool close_span(const struct search *s, struct stand *stand, uint32_t low,
                       uint32_t high)
{
    const struct lw_node *open = stand->open;
    stand->low = low;
    stand->high = high;
    stand->open = NULL;
    if (low != high) {
        stand->is_vague = true;
        return true;
    }
    if (!open || stand->is_vague)
        return true;
    struct lw_span *span = &s->match->spans[stand->open_span];
    span->end = low;
    if (lw_operators[open->hop.op].is_named
        && !lw_match_pay(s->match, low - span->start))
        return false;
    return lw_span_valid(&open->hop, template_of(s, open), s->match->text, *span);
}

/* Lets an expression have some text. */
static bool explore_expression(const struct search *s, const struct lw_node *node,
                               const struct stand *from)
{
    struct stand stand = *from;
    uint32_t first = stand.low;
    uint32_t last = stand.high;
    while (last > first && !lw_span_starts(&node->hop, s->match->text, last))
        last--;
    if (!lw_span_starts(&node->hop, s->match->text, last))
        return false;
    while (!lw_span_starts(&node->hop, s->match->text, first))
        first++;
    if (!close_span(s, &stand, first, last))
        return false;
    s->match->spans[stand.depth].start = first;
    stand.open = node;
    stand.present |= (uint16_t)(1U << stand.depth);
    stand.open_span = stand.depth++;
    stand.low = first + 1;
    stand.high = lw_span_reach(&node->hop, template_of(s, node), s->match->text, last);
    return explore(s, node, &stand);
}

/* Lets an expression have no text. */
static bool skip_expression(const struct search *s, const struct lw_node *node,
                            const struct stand *from)
{
    struct stand stand = *from;
    s->match->spans[stand.depth++] = (struct lw_span){0, 0};
    return explore(s, node, &stand);
}

/* Ends the search at a node that a route ends at, if the text does as well. */
static bool finish(const struct search *s, const struct lw_node *node,
                   const struct stand *from)
{
    const struct lw_entry *entry = &s->trie->entries[node->entry];
    struct stand stand = *from;
    if (node->route == LW_NO_ROUTE || stand.high != s->size
        || !close_span(s, &stand, s->size, s->size))
        return false;
    if (stand.is_vague && !lw_settle(entry, stand.present, s->match))
        return false;
    s->match->route = node->route;
    s->match->entry = entry;
    return true;
}

/* Lets some of the node's expressions come next: those that leave their segment, or
 * those that don't. */
static bool explore_expressions(const struct search *s, const struct lw_node *node,
                                const struct stand *stand, bool leaves)
{
    const struct lw_node *child = s->trie->nodes + node->children + node->literal_count;
    const struct lw_node *end = child + node->expression_count;
    for (; child < end && !has_stopped(s); child++)
        if ((child->hop.op > LW_OPERATOR_SIMPLE) == leaves
            && explore_expression(s, child, stand))
            return true;
    return false;
}

/* Lets nothing more come, or expressions without text. */
static bool explore_end(const struct search *s, const struct lw_node *node,
                        const struct stand *stand)
{
    const struct lw_node *child = s->trie->nodes + node->children + node->literal_count;
    const struct lw_node *end = child + node->expression_count;
    if (finish(s, node, stand))
        return true;
    for (; child < end && !has_stopped(s); child++)
        if (skip_expression(s, child, stand))
            return true;
    return false;
}

/* Goes on behind the literal text that leads to a node. */
static bool pass_label(const struct search *s, const struct lw_node *node,
                       const struct stand *stand)
{
    if (node->has_expression)
        return explore_expression(s, node, stand) || skip_expression(s, node, stand);
    if (node->expression_count == 0)
        return explore_end(s, node, stand);
    return explore_expressions(s, node, stand, false)
           || explore_expressions(s, node, stand, true) || explore_end(s, node, stand);
}

/* The next node behind literal text, or NULL: an expression comes first, or nothing. */
static const struct lw_node *go_down(const struct search *s, const struct lw_node *node,
                                     uint32_t at)
{
    return node->has_expression ? NULL : literal_child(s, node, at);
}

/* The first node of literal text from `at` on that begins as it is to, or NULL. */
static const struct lw_node *begin_run(const struct search *s,
                                       const struct lw_node *base, bool at_slash,
                                       uint32_t at)
{
    bool fits = at < s->size && (s->text[at] == '/') == at_slash;
    return fits ? literal_child(s, base, at) : NULL;
}

/* Follows literal text as far as it goes, from the one place where it begins, and gives
 * it up node by node. */
static bool climb(const struct search *s, const struct lw_node *base,
                  const struct stand *from)
{
    struct stand stand = *from;
    uint32_t at = stand.low;
    const struct lw_node *node = base;
    const struct lw_node *child = literal_child(s, base, at);
    if (!child || !close_span(s, &stand, at, at))
        return false;
    for (; child; child = go_down(s, node, at)) {
        node = child;
        at += node->label_size;
        if (!lw_match_pay(s->match, 0))
            return false;
    }
    for (; node != base && !has_stopped(s); node = &s->trie->nodes[node->parent]) {
        stand.low = stand.high = at;
        if (pass_label(s, node, &stand))
            return true;
        at -= node->label_size;
    }
    return false;
}

/* The node that so much literal text from `at` on leads to, or NULL. */
static const struct lw_node *find_run(const struct search *s,
                                      const struct lw_node *base, bool at_slash,
                                      uint32_t at, uint32_t size)
{
    uint32_t end = at;
    const struct lw_node *node = begin_run(s, base, at_slash, at);
    for (; node; node = go_down(s, node, end)) {
        end += node->label_size;
        if (end - at >= size)
            return end - at == size ? node : NULL;
    }
    return NULL;
}

/* The longest such text of less than `below` octets, 0: there is none. */
static uint32_t longest_run(const struct search *s, const struct lw_node *base,
                            const struct stand *stand, uint32_t below)
{
    uint32_t longest = 0;
    for (uint32_t at = stand->low; at <= stand->high; at++) {
        uint32_t end = at;
        const struct lw_node *node = begin_run(s, base, stand->at_slash, at);
        for (; node; node = go_down(s, node, end)) {
            end += node->label_size;
            if (end - at >= below)
                break;
            longest = end - at > longest ? end - at : longest;
        }
    }
    return longest;
}

/* Whether the same octets are at both places. */
static bool is_same(const struct search *s, uint32_t a, uint32_t b, uint32_t size)
{
    return size <= s->size - b && memcmp(s->text + a, s->text + b, size) == 0;
}

/* Lets literal text of this size begin at several places.  Each node is gone to once,
 * with all its places. */
static bool explore_runs(const struct search *s, const struct lw_node *base,
                         const struct stand *stand, uint32_t size)
{
    for (uint32_t at = stand->high + 1; at-- > stand->low && !has_stopped(s);) {
        const struct lw_node *node = find_run(s, base, stand->at_slash, at, size);
        struct stand next = *stand;
        uint32_t later = at + 1;
        uint32_t first = stand->low;
        if (!node)
            continue;
        while (later <= stand->high && !is_same(s, at, later, size))
            later++;
        if (later - at >= OCTETS_PER_STEP && !lw_match_pay(s->match, later - at))
            return false;
        if (later <= stand->high)
            continue;
        while (!is_same(s, at, first, size))
            first++;
        if (!lw_match_pay(s->match, stand->high - stand->low))
            return false;
        if (!close_span(s, &next, first, at))
            continue;
        next.low += size;
        next.high += size;
        if (pass_label(s, node, &next))
            return true;
    }
    return false;
}

/* Leaves out places where no literal text can begin, at both ends; false: nothing is
 * left. */
static bool narrow(const struct search *s, const struct lw_node *node,
                   struct stand *stand)
{
    const char *octets = octets_of(s, &node->octets, node->literal_count);
    uint32_t count = node->literal_count;
    for (;; stand->high--) {
        uint32_t at = stand->high;
        if (at < s->size && (s->text[at] == '/') == stand->at_slash
            && find_octet(octets, count, s->text[at]))
            break;
        if (at == stand->low)
            return false;
    }
    while ((s->text[stand->low] == '/') != stand->at_slash
           || !find_octet(octets, count, s->text[stand->low]))
        stand->low++;
    return true;
}

/* Lets literal text begin at several places: with a slash, or without. */
static bool explore_literals(const struct search *s, const struct lw_node *node,
                             const struct stand *from, bool at_slash)
{
    struct stand stand = *from;
    uint32_t size = UINT32_MAX;
    stand.at_slash = at_slash;
    if (!narrow(s, node, &stand))
        return false;
    if (stand.low == stand.high)
        return climb(s, node, &stand);
    while ((size = longest_run(s, node, &stand, size)) > 0) {
        if (!lw_match_pay(s->match, stand.high - stand.low))
            return false;
        if (explore_runs(s, node, &stand, size))
            return true;
    }
    return false;
}

/* Lets something come next that begins with a slash or leaves its segment, or that
 * doesn't. */
static inline bool explore_next(const struct search *s, const struct lw_node *node,
                                const struct stand *stand, bool leaves)
{
    uint32_t at = stand->low;
    bool has_literals = node->literal_count > 0 && at < s->size;
    if (has_literals && at != stand->high && explore_literals(s, node, stand, leaves))
        return true;
    if (has_literals && at == stand->high && (s->text[at] == '/') == leaves
        && climb(s, node, stand))
        return true;
    return node->expression_count > 0 && explore_expressions(s, node, stand, leaves);
}

/* Goes on at a node: first within the segment, then with another one. */
static bool explore(const struct search *s, const struct lw_node *node,
                    const struct stand *stand)
{
    return lw_match_pay(s->match, stand->high - stand->low)
           && (explore_next(s, node, stand, false) || explore_next(s, node, stand, true)
               || explore_end(s, node, stand));
}

bool lw_trie_match(const struct lw_trie *trie, struct luaweb_slice text,
                   struct lw_match *match)
{
    match->route = LW_NO_ROUTE;
    match->steps = 0;
    match->text = text;
    match->query = lw_slice(NULL, 0);
    if (text.size > UINT32_MAX / 2)
        return false;
    struct search search = {trie, match, text.data, (uint32_t)text.size};
    return explore(&search, trie->nodes, &(struct stand){0});
}
