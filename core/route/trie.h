/* SPDX-License-Identifier: MIT
 *
 * All templates of an app as one tree.  A node is a place that a path can have come to;
 * its children say what may follow: literal text, told apart by its first octet, and
 * expressions, in the order in which they are tried.  Templates that begin alike share
 * their nodes, whatever their variables are called.  Built once, then only read. */
#ifndef LW_ROUTE_TRIE_H
#define LW_ROUTE_TRIE_H

#include "route/template.h"

enum {
    LW_NODE_INLINE = 16,
    LW_NO_ROUTE = -1
};

/* A template to be found, by its first parts (all of them, or those of its path). */
struct lw_entry {
    const struct lw_template *template; /* lent as long as the trie lives */
    uint32_t part_count;
    uint32_t expression_count; /* among those parts; the trie's */
    int32_t route;
};

/* Octets within the node, or where they are too many, in the trie's pool. */
union lw_octets {
    char here[LW_NODE_INLINE];
    uint32_t pool;
};

/* Of one cache line.  What leads here is literal text, or an expression, or both.  Its
 * children are neighbours: those that begin with literal text, in the order of
 * `octets`, its first octets; then those by expression alone. */
struct lw_node {
    union lw_octets label;  /* the literal text that leads here */
    union lw_octets octets; /* the first octets of the literals that follow */
    uint32_t children;      /* the number of the first child */
    uint32_t parent;
    uint32_t entry; /* of a template that leads through here */
    int32_t route;  /* that ends here, or LW_NO_ROUTE */
    uint32_t expression_count;
    uint16_t literal_count;
    uint16_t label_size;
    struct lw_expression hop; /* the expression, as in that template */
    bool has_expression;
};

struct lw_trie {
    struct lw_node *nodes;    /* owned; the first is the root */
    struct lw_entry *entries; /* owned, sorted */
    char *pool;               /* owned */
    uint32_t node_count;
    uint32_t pool_size;
    uint32_t pool_capacity;
    uint32_t longest_prefix; /* of {x:3} and the like */
};

/* Orders templates by structure: 0 when both match the same paths, under whatever
 * names. */
int lw_entry_compare(const struct lw_entry *a, const struct lw_entry *b);

/* Builds the tree of these entries (copied), no two of which may be equal. */
void lw_trie_construct(struct lw_trie *trie, const struct lw_entry *entries,
                       uint32_t count);
void lw_trie_destruct(struct lw_trie *trie);

#endif
