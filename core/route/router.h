/* SPDX-License-Identifier: MIT
 *
 * The router: which resource does a path belong to?  Templates are added, then it is
 * built, then it is asked.  What it costs to ask grows with the path, not with the
 * number of templates. */
#ifndef LW_ROUTE_ROUTER_H
#define LW_ROUTE_ROUTER_H

#include "route/match.h"

struct lw_router {
    struct lw_template **templates; /* owned; by number */
    struct lw_entry *entries;       /* owned; the same, sorted */
    uint32_t count;
    uint32_t capacity;
    struct lw_trie trie; /* owned; empty until it is built */
};

/* Why a template is refused. */
struct lw_refusal {
    const char *why; /* static: "has ..." */
    int32_t other;   /* the route that it is at odds with, or LW_NO_ROUTE */
};

void lw_router_construct(struct lw_router *router);
void lw_router_destruct(struct lw_router *router);

/* Adds a template (copied) and gives its number: they count from 0, and templates of
 * one meaning have one number.  LW_NO_ROUTE with `refusal` when it is none, and when it
 * matches the same paths as another that differs in variables. */
int32_t lw_router_add(struct lw_router *router, struct luaweb_slice text,
                      struct lw_refusal *refusal);

/* Makes ready for matching.  False, with `hidden` and `winner`, when all paths of one
 * template go to others, for instance to `winner`. */
bool lw_router_build(struct lw_router *router, int32_t *hidden, int32_t *winner);

/* Finds the route of a path in normal form (lent as long as `match` is used): its
 * number is match->route. */
bool lw_router_match(const struct lw_router *router, struct luaweb_slice path,
                     struct lw_match *match);

#endif
