/* SPDX-License-Identifier: MIT
 *
 * The router: which resource does a path belong to?  More specific templates win over
 * less specific ones, whatever their order of declaration. */
#ifndef LW_ROUTE_ROUTER_H
#define LW_ROUTE_ROUTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

struct lw_route;

struct lw_router {
    struct lw_route *routes; /* owned, in the order in which they are tried */
    uint32_t count;
    uint32_t capacity;
};

void lw_router_construct(struct lw_router *router);
void lw_router_destruct(struct lw_router *router);

/* Adds a template (copied) that leads to `resource`.  false, with a static sentence in
 * *why, when it is not a template or the same one is there already. */
bool lw_router_add(struct lw_router *router, struct luaweb_slice text,
                   uint32_t resource, const char **why);

/* Finds the resource for a path (as received, without the query).  Fills in the
 * captured pairs (room for LW_TEMPLATE_VARIABLES; values raw, lent by path). */
bool lw_router_match(const struct lw_router *router, struct luaweb_slice path,
                     uint32_t *resource, struct luaweb_field *pairs, uint32_t *count);

#endif
