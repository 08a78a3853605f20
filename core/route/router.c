/* SPDX-License-Identifier: MIT
 *
 * Keeps the templates sorted by structure, which tells at once when two of them match
 * the same paths. */
#include "route/router.h"

#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "route/named.h"
#include "route/probe.h"

void lw_router_construct(struct lw_router *router)
{
    *router = (struct lw_router){0};
}

void lw_router_destruct(struct lw_router *router)
{
    for (uint32_t i = 0; i < router->count; i++)
        lw_template_free(router->templates[i]);
    free(router->templates);
    free(router->entries);
    lw_trie_destruct(&router->trie);
    *router = (struct lw_router){0};
}

/* Where it is among the sorted entries, or belongs. */
static uint32_t find_place(const struct lw_router *router, const struct lw_entry *entry,
                           bool *is_there)
{
    uint32_t low = 0;
    uint32_t high = router->count;
    *is_there = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = lw_entry_compare(entry, &router->entries[middle]);
        *is_there |= order == 0;
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_same_variable(const struct lw_variable *a, const struct lw_variable *b)
{
    return lw_slice_equal(a->key, b->key) && a->prefix == b->prefix
           && a->is_exploded == b->is_exploded;
}

/* Whether templates that match the same paths have the same variables as well, the
 * first of them in this order, those of the query in any. */
static bool has_same_variables(const struct lw_template *a, const struct lw_template *b,
                               uint32_t in_path)
{
    if (a->variable_count != b->variable_count)
        return false;
    for (uint32_t i = 0; i < a->variable_count; i++) {
        uint32_t at = i;
        if (i >= in_path)
            at = in_path
                 + lw_named_find(b->variables + in_path, b->variable_count - in_path,
                                 a->variables[i].key);
        if (at == b->variable_count
            || !is_same_variable(&a->variables[i], &b->variables[at]))
            return false;
    }
    return true;
}

/* How many variables the first parts have. */
static uint32_t count_variables(const struct lw_template *template, uint32_t parts)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < parts; i++)
        if (template->parts[i].literal.size == 0)
            count += template->expressions[template->parts[i].expression].count;
    return count;
}

static void reserve(struct lw_router *router)
{
    if (router->count < router->capacity)
        return;
    router->capacity = router->capacity ? router->capacity * 2 : 16;
    router->templates =
        lw_realloc(router->templates, router->capacity * sizeof(struct lw_template *));
    router->entries =
        lw_realloc(router->entries, router->capacity * sizeof *router->entries);
}

/* Takes the template of the entry, unless another one has its place. */
static int32_t insert(struct lw_router *router, struct lw_entry *entry,
                      struct lw_refusal *refusal)
{
    bool is_there;
    uint32_t place = find_place(router, entry, &is_there);
    if (is_there) {
        int32_t other = router->entries[place].route;
        uint32_t in_path = count_variables(entry->template, entry->part_count);
        if (has_same_variables(entry->template, router->templates[other], in_path))
            return other;
        refusal->why = "matches the same paths as a template declared before";
        refusal->other = other;
        return LW_NO_ROUTE;
    }
    reserve(router);
    memmove(router->entries + place + 1, router->entries + place,
            (router->count - place) * sizeof *router->entries);
    router->entries[place] = *entry;
    router->count++;
    return entry->route;
}

int32_t lw_router_add(struct lw_router *router, struct luaweb_slice text,
                      struct lw_refusal *refusal)
{
    *refusal = (struct lw_refusal){NULL, LW_NO_ROUTE};
    struct lw_template *template = lw_template_new(text, &refusal->why);
    if (!template)
        return LW_NO_ROUTE;
    int32_t number = LW_NO_ROUTE;
    int parts = lw_template_path(template, &refusal->why);
    struct lw_entry entry = {template, (uint32_t)parts, 0, (int32_t)router->count};
    if (parts >= 0)
        number = insert(router, &entry, refusal);
    if (number == entry.route)
        router->templates[number] = template;
    else
        lw_template_free(template);
    return number;
}

bool lw_router_build(struct lw_router *router, int32_t *hidden, int32_t *winner)
{
    lw_trie_destruct(&router->trie);
    lw_trie_construct(&router->trie, router->entries, router->count);
    for (uint32_t i = 0; i < router->count; i++) {
        const struct lw_entry *entry = &router->trie.entries[i];
        *hidden = entry->route;
        if (!lw_probe_wins(&router->trie, entry, winner))
            return false;
    }
    return true;
}

bool lw_router_match(const struct lw_router *router, struct luaweb_slice path,
                     struct lw_match *match)
{
    lw_require(router->trie.node_count > 0);
    return lw_trie_match(&router->trie, path, match);
}
