/* SPDX-License-Identifier: MIT
 *
 * Looks at single octets, and hands named items on. */
#include "route/span.h"

#include <string.h>

#include "base/slice.h"
#include "route/named.h"

/* Only these octets end any text. */
static bool is_stop(const struct lw_operator_facts *facts, char c)
{
    return (c == '/' || c == '?' || c == '#') && strchr(facts->stops, c);
}

bool lw_span_starts(const struct lw_expression *expression, struct luaweb_slice text,
                    uint32_t at)
{
    const struct lw_operator_facts *facts = &lw_operators[expression->op];
    if (at == text.size)
        return false;
    if (facts->first)
        return text.data[at] == facts->first;
    return !is_stop(facts, text.data[at]);
}

/* How many more octets the character at `at` has; an escape is one character. */
static uint32_t more_octets(struct luaweb_slice text, uint32_t at)
{
    uint32_t next = at + 1;
    if (text.data[at] == '%')
        return 2;
    while (next < text.size && ((unsigned char)text.data[next] & 0xc0) == 0x80)
        next++;
    return next - at - 1;
}

/* The same for positional items with prefixes. */
static uint32_t reach_of_prefixes(const struct lw_expression *expression,
                                  const struct lw_variable *variables,
                                  struct luaweb_slice text, uint32_t at)
{
    const struct lw_operator_facts *facts = &lw_operators[expression->op];
    uint32_t last = expression->count - 1u;
    uint32_t item = 0;
    uint32_t characters = 0;
    for (at += facts->first != 0; at < text.size; at++) {
        char c = text.data[at];
        if (is_stop(facts, c))
            break;
        if (c == facts->separator && (!expression->most || item < last)) {
            item++;
            characters = 0;
            continue;
        }
        bool is_surplus = c == facts->separator && c != ',';
        uint32_t prefix = variables[item < last ? item : last].prefix;
        if (is_surplus || (prefix > 0 && characters == prefix))
            break;
        characters++;
        at += more_octets(text, at);
    }
    return at;
}

uint32_t lw_span_reach(const struct lw_expression *expression,
                       const struct lw_template *template, struct luaweb_slice text,
                       uint32_t at)
{
    const struct lw_operator_facts *facts = &lw_operators[expression->op];
    uint32_t separators = 0;
    if (expression->has_prefix)
        return reach_of_prefixes(expression, &template->variables[expression->first],
                                 text, at);
    for (at += facts->first != 0; at < text.size; at++) {
        char c = text.data[at];
        if (c == facts->separator && expression->most
            && ++separators == expression->most)
            break;
        if (is_stop(facts, c))
            break;
    }
    return at;
}

/* Whether `at`, behind `start`, lies within an escape or a UTF-8 character. */
static bool splits_character(struct luaweb_slice text, uint32_t start, uint32_t at)
{
    if (text.data[at - 1] == '%' || (at - start > 1 && text.data[at - 2] == '%'))
        return true;
    return at < text.size && ((unsigned char)text.data[at] & 0xc0) == 0x80;
}

bool lw_span_valid(const struct lw_expression *expression,
                   const struct lw_template *template, struct luaweb_slice text,
                   struct lw_span span)
{
    const struct lw_operator_facts *facts = &lw_operators[expression->op];
    if (splits_character(text, span.start, span.end))
        return false;
    if (!facts->is_named)
        return true;
    struct luaweb_slice items =
        lw_slice(text.data + span.start + 1, span.end - span.start - 1);
    return lw_named_valid(&template->variables[expression->first], expression->count,
                          facts->separator, items);
}
