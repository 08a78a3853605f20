/* SPDX-License-Identifier: MIT
 *
 * Builds the tree from the sorted list of its templates: what begins alike stands
 * together there, so that each node covers a stretch of the list.  What is below a node
 * is built before what is beside it, and so lies near it. */
#include "route/trie.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"

#define CACHE_LINE 64

/* How far all templates that a node covers are read. */
struct place {
    uint32_t part;
    uint32_t offset; /* in a literal */
};

enum rest_kind {
    REST_ENDED, /* in the order of the sorted list */
    REST_LITERAL,
    REST_EXPRESSION
};

/* What comes next in a template. */
struct rest {
    enum rest_kind kind;
    uint32_t part;
    struct luaweb_slice literal;
};

static struct rest rest_of(const struct lw_entry *entry, struct place place)
{
    const struct lw_part *parts = entry->template->parts;
    if (place.part < entry->part_count && place.offset > 0
        && place.offset == parts[place.part].literal.size)
        place = (struct place){place.part + 1, 0};
    struct rest rest = {
        REST_ENDED, place.part, {NULL, 0}
    };
    if (place.part == entry->part_count)
        return rest;
    struct luaweb_slice literal = parts[place.part].literal;
    rest.kind = literal.size > 0 ? REST_LITERAL : REST_EXPRESSION;
    if (literal.size > 0)
        rest.literal =
            lw_slice(literal.data + place.offset, literal.size - place.offset);
    return rest;
}

/* Ordering
 * ----------------------------------------------------------------------------- */

static int compare_numbers(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_slices(struct luaweb_slice a, struct luaweb_slice b)
{
    size_t size = a.size < b.size ? a.size : b.size;
    int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
    return order ? order : a.size < b.size ? -1 : a.size > b.size;
}

/* One value is narrower than many, a short one than a long one. */
static int compare_variables(const struct lw_variable *a, const struct lw_variable *b)
{
    int order = compare_numbers(a->is_exploded, b->is_exploded);
    return order ? order : compare_numbers(a->prefix - 1, b->prefix - 1);
}

/* Few items are narrower than many.  Names count only where the path tells them. */
static int compare_expressions(const struct lw_entry *a, const struct lw_entry *b,
                               uint32_t part)
{
    const struct lw_template *t = a->template;
    const struct lw_template *u = b->template;
    const struct lw_expression *p = &t->expressions[t->parts[part].expression];
    const struct lw_expression *q = &u->expressions[u->parts[part].expression];
    int order = compare_numbers(p->op, q->op);
    if (!order)
        order = compare_numbers(p->most - 1u, q->most - 1u);
    if (!order)
        order = compare_numbers(p->count, q->count);
    for (uint32_t i = 0; !order && i < p->count; i++) {
        const struct lw_variable *v = &t->variables[p->first + i];
        const struct lw_variable *w = &u->variables[q->first + i];
        order = compare_variables(v, w);
        if (!order && lw_operators[p->op].is_named)
            order = compare_slices(v->key, w->key);
    }
    return order;
}

static size_t common_size(struct luaweb_slice a, struct luaweb_slice b)
{
    size_t size = 0;
    while (size < a.size && size < b.size && a.data[size] == b.data[size])
        size++;
    return size;
}

int lw_entry_compare(const struct lw_entry *a, const struct lw_entry *b)
{
    struct place place = {0, 0};
    for (;;) {
        struct rest p = rest_of(a, place);
        struct rest q = rest_of(b, place);
        if (p.kind != q.kind || p.kind == REST_ENDED)
            return (int)p.kind - (int)q.kind;
        place.part = p.part;
        if (p.kind == REST_EXPRESSION) {
            int order = compare_expressions(a, b, p.part);
            if (order)
                return order;
            place = (struct place){p.part + 1, 0};
            continue;
        }
        size_t size = common_size(p.literal, q.literal);
        if (size < p.literal.size && size < q.literal.size)
            return (unsigned char)p.literal.data[size]
                   - (unsigned char)q.literal.data[size];
        place.offset =
            (uint32_t)(p.literal.data + size - a->template->parts[p.part].literal.data);
    }
}

static int compare_entries(const void *a, const void *b)
{
    return lw_entry_compare(a, b);
}

/* Building
 * ----------------------------------------------------------------------------- */

/* What a node covers: entries from `first` to before `end`, read up to `place`. */
struct cover {
    uint32_t first, end;
    struct place place;
};

struct builder {
    struct lw_trie *trie;
    struct cover *covers; /* of its nodes; owned */
    uint32_t *waiting; /* nodes without their children yet, the next one last; owned */
    uint32_t waiting_count;
    uint32_t capacity; /* of these, and of the trie's nodes */
};

static void put(struct lw_trie *trie, union lw_octets *octets, const char *data,
                size_t size)
{
    lw_require(data);
    if (size <= sizeof octets->here) {
        memcpy(octets->here, data, size);
        return;
    }
    while (trie->pool_size + size > trie->pool_capacity) {
        trie->pool_capacity = trie->pool_capacity ? trie->pool_capacity * 2 : 1024;
        trie->pool = lw_realloc(trie->pool, trie->pool_capacity);
    }
    memcpy(trie->pool + trie->pool_size, data, size);
    octets->pool = trie->pool_size;
    trie->pool_size += (uint32_t)size;
}

static uint32_t add_node(struct builder *b, uint32_t parent, struct cover cover)
{
    struct lw_trie *trie = b->trie;
    lw_require(trie->node_count < b->capacity);
    b->covers[trie->node_count] = cover;
    struct lw_node *node = &trie->nodes[trie->node_count];
    memset(node, 0, sizeof *node);
    node->parent = parent;
    node->entry = cover.first;
    node->route = LW_NO_ROUTE;
    return trie->node_count++;
}

/* Lets the node, which covers `cover`, lead through the expression that comes there. */
static void pass_expression(struct builder *b, uint32_t number, struct cover cover)
{
    const struct lw_template *template = b->trie->entries[cover.first].template;
    uint32_t part = rest_of(&b->trie->entries[cover.first], cover.place).part;
    struct lw_node *node = &b->trie->nodes[number];
    node->has_expression = true;
    node->hop = template->expressions[template->parts[part].expression];
    for (uint32_t i = 0; i < node->hop.count; i++) {
        uint32_t prefix = template->variables[node->hop.first + i].prefix;
        if (prefix > b->trie->longest_prefix)
            b->trie->longest_prefix = prefix;
    }
    b->covers[number].place = (struct place){part + 1, 0};
}

static void add_expression(struct builder *b, uint32_t parent, struct cover cover)
{
    pass_expression(b, add_node(b, parent, cover), cover);
}

/* Whether two templates go on alike. */
static bool is_together(const struct lw_entry *a, const struct lw_entry *b,
                        struct place place)
{
    struct rest p = rest_of(a, place);
    struct rest q = rest_of(b, place);
    if (p.kind != q.kind)
        return false;
    return p.kind == REST_LITERAL ? p.literal.data[0] == q.literal.data[0]
                                  : compare_expressions(a, b, p.part) == 0;
}

/* The node that the literals which begin with this octet lead to, and through the
 * expression behind them if it is the same in all templates.  As they are sorted, the
 * first and the last of them have in common what all have. */
static void add_literal(struct builder *b, uint32_t parent, struct cover cover)
{
    const struct lw_entry *first = &b->trie->entries[cover.first];
    const struct lw_entry *last = &b->trie->entries[cover.end - 1];
    struct luaweb_slice literal = rest_of(first, cover.place).literal;
    size_t size = common_size(literal, rest_of(last, cover.place).literal);
    cover.place.offset += (uint32_t)size;
    uint32_t number = add_node(b, parent, cover);
    b->trie->nodes[number].label_size = (uint16_t)size;
    put(b->trie, &b->trie->nodes[number].label, literal.data, size);
    if (rest_of(first, cover.place).kind == REST_EXPRESSION
        && is_together(first, last, cover.place))
        pass_expression(b, number, cover);
}

/* Adds the children of a node. */
static void grow(struct builder *b, uint32_t number)
{
    struct lw_trie *trie = b->trie;
    struct cover cover = b->covers[number];
    char octets[256];
    uint32_t literals = 0;
    uint32_t children = trie->node_count;
    if (rest_of(&trie->entries[cover.first], cover.place).kind == REST_ENDED)
        trie->nodes[number].route = trie->entries[cover.first++].route;
    for (uint32_t at = cover.first; at < cover.end;) {
        struct cover child = {at, at + 1, cover.place};
        while (
            child.end < cover.end
            && is_together(&trie->entries[at], &trie->entries[child.end], cover.place))
            child.end++;
        struct rest rest = rest_of(&trie->entries[at], cover.place);
        if (rest.kind == REST_LITERAL) {
            octets[literals++] = rest.literal.data[0];
            add_literal(b, number, child);
        } else {
            add_expression(b, number, child);
        }
        at = child.end;
    }
    struct lw_node *node = &trie->nodes[number];
    node->children = children;
    node->literal_count = literals;
    node->expression_count = (trie->node_count - children - literals);
    put(trie, &node->octets, octets, literals);
    for (uint32_t child = trie->node_count; child-- > children;)
        b->waiting[b->waiting_count++] = child;
}

/* Puts each node into a cache line of its own. */
static void align_nodes(struct lw_trie *trie)
{
    static_assert(sizeof(struct lw_node) == CACHE_LINE, "a node fills a cache line");
    size_t size = trie->node_count * sizeof *trie->nodes;
    struct lw_node *nodes = aligned_alloc(CACHE_LINE, size);
    lw_require(nodes);
    memcpy(nodes, trie->nodes, size);
    free(trie->nodes);
    trie->nodes = nodes;
}

/* Makes room for all nodes that there can be: a template has one for each of its parts,
 * and where it leaves the way of others, a node is cut in two and perhaps parts from
 * its expression. */
static void reserve(struct builder *b, uint32_t count)
{
    b->capacity = 1;
    for (uint32_t i = 0; i < count; i++)
        b->capacity += b->trie->entries[i].part_count + 2;
    b->trie->nodes = lw_alloc(b->capacity * sizeof *b->trie->nodes);
    b->covers = lw_alloc(b->capacity * sizeof *b->covers);
    b->waiting = lw_alloc(b->capacity * sizeof *b->waiting);
}

static void count_expressions(struct lw_entry *entry)
{
    entry->expression_count = 0;
    for (uint32_t i = 0; i < entry->part_count; i++)
        entry->expression_count += entry->template->parts[i].literal.size == 0;
}

void lw_trie_construct(struct lw_trie *trie, const struct lw_entry *entries,
                       uint32_t count)
{
    *trie = (struct lw_trie){0};
    trie->entries = lw_alloc(count * sizeof *entries);
    if (count > 0) {
        memcpy(trie->entries, entries, count * sizeof *entries);
        qsort(trie->entries, count, sizeof *entries, compare_entries);
    }
    for (uint32_t i = 1; i < count; i++)
        lw_require(lw_entry_compare(&trie->entries[i - 1], &trie->entries[i]) < 0);
    for (uint32_t i = 0; i < count; i++)
        count_expressions(&trie->entries[i]);
    struct builder builder = {.trie = trie};
    reserve(&builder, count);
    struct cover all = {.end = count};
    add_node(&builder, 0, all);
    builder.waiting_count = count > 0; /* the root, unless it covers nothing */
    builder.waiting[0] = 0;
    while (builder.waiting_count > 0)
        grow(&builder, builder.waiting[--builder.waiting_count]);
    align_nodes(trie);
    free(builder.covers);
    free(builder.waiting);
}

void lw_trie_destruct(struct lw_trie *trie)
{
    free(trie->nodes);
    free(trie->entries);
    free(trie->pool);
    *trie = (struct lw_trie){0};
}
