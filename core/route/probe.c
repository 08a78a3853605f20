/* SPDX-License-Identifier: MIT
 *
 * Writing probes.  Each expression has no text, one value, or as many as its variables
 * take: more than fit into the fixed variables of any other template; a reserved one as
 * many segments.  Values have as many characters as they may, so that the prefixes of
 * others are too short for them. */
#include "route/probe.h"

#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"

#define FILL        '\x7f' /* in no literal, as no template may have it */
#define MANY        (LW_TEMPLATE_VARIABLES + 1)
#define MOST_PROBES 243 /* all combinations of five expressions */

enum text {
    TEXT_ONE,
    TEXT_NONE,
    TEXT_MANY,
    TEXT_KINDS
};

struct probe {
    const struct lw_template *template;
    uint32_t value_size; /* of a variable without a prefix, at least 3 */
    char *data;          /* owned */
    size_t size;
    size_t capacity;
};

static void append(struct probe *p, const char *data, size_t size)
{
    if (size == 0)
        return;
    if (p->size + size > p->capacity) {
        p->capacity = 2 * (p->size + size);
        p->data = lw_realloc(p->data, p->capacity);
    }
    memcpy(p->data + p->size, data, size);
    p->size += size;
}

static void append_octets(struct probe *p, char octet, size_t count)
{
    while (count-- > 0)
        append(p, &octet, 1);
}

/* A value, with its name where it has one; of `segments` segments. */
static void append_value(struct probe *p, const struct lw_expression *expression,
                         const struct lw_variable *variable, uint32_t segments)
{
    uint32_t size = variable->prefix ? variable->prefix : p->value_size;
    if (lw_operators[expression->op].is_named) {
        append(p, variable->key.data, variable->key.size);
        append(p, "=", 1);
    }
    for (uint32_t i = 1; i < segments && size > 2; i++) {
        append(p, "\x7f/", 2);
        size -= variable->prefix ? 2 : 0;
    }
    append_octets(p, FILL, size);
}

static void append_expression(struct probe *p, const struct lw_expression *expression,
                              enum text text)
{
    const struct lw_operator_facts *facts = &lw_operators[expression->op];
    const struct lw_variable *variables = &p->template->variables[expression->first];
    uint32_t segments =
        text == TEXT_MANY && expression->op == LW_OPERATOR_RESERVED ? MANY : 1;
    if (text == TEXT_NONE)
        return;
    if (facts->first)
        append(p, &facts->first, 1);
    for (uint32_t i = 0; i < expression->count; i++) {
        bool is_many = variables[i].is_exploded && text == TEXT_MANY;
        for (uint32_t item = 0; item < (is_many ? MANY : 1); item++) {
            if (i + item > 0)
                append(p, &facts->separator, 1);
            append_value(p, expression, &variables[i], segments);
        }
        if (text == TEXT_ONE)
            return;
    }
}

/* The probe of this number: each expression's kind of text is a digit of it. */
static void write_probe(struct probe *p, uint32_t part_count, uint32_t number)
{
    p->size = 0;
    for (uint32_t i = 0; i < part_count; i++) {
        const struct lw_part *part = &p->template->parts[i];
        if (part->literal.size > 0) {
            append(p, part->literal.data, part->literal.size);
            continue;
        }
        append_expression(p, &p->template->expressions[part->expression],
                          (enum text)(number % TEXT_KINDS));
        number /= TEXT_KINDS;
    }
}

static uint32_t count_probes(const struct lw_entry *entry)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < entry->expression_count && count < MOST_PROBES; i++)
        count *= TEXT_KINDS;
    return count;
}

bool lw_probe_wins(const struct lw_trie *trie, const struct lw_entry *entry,
                   int32_t *winner)
{
    struct probe probe = {
        .template = entry->template,
        .value_size = trie->longest_prefix + 3,
    };
    uint32_t count = count_probes(entry);
    bool has_lost = false;
    bool has_won = false;
    for (uint32_t number = 0; !has_won && number < count; number++) {
        struct lw_match match;
        write_probe(&probe, entry->part_count, number);
        if (probe.size == 0 || probe.data[0] != '/')
            continue;
        if (!lw_trie_match(trie, lw_slice(probe.data, probe.size), &match))
            continue;
        has_won = match.route == entry->route;
        has_lost |= !has_won;
        if (!has_won)
            *winner = match.route;
    }
    free(probe.data);
    return has_won || !has_lost;
}
