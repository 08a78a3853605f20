/* SPDX-License-Identifier: MIT
 *
 * Templates in the order of their specificity, tried one after the other. */
#include "route/router.h"

#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "route/template.h"

struct lw_route {
    struct lw_template *template; /* owned */
    uint32_t resource;
};

void lw_router_construct(struct lw_router *router)
{
    memset(router, 0, sizeof *router);
}

void lw_router_destruct(struct lw_router *router)
{
    for (uint32_t i = 0; i < router->count; i++) {
        lw_template_destruct(router->routes[i].template);
        free(router->routes[i].template);
    }
    free(router->routes);
    memset(router, 0, sizeof *router);
}

/* Opens a gap in front of the first route that is less specific. */
static struct lw_route *insert(struct lw_router *router, const struct lw_template *t)
{
    if (router->count == router->capacity) {
        router->capacity = router->capacity ? router->capacity * 2 : 16;
        router->routes =
            lw_realloc(router->routes, router->capacity * sizeof *router->routes);
    }
    uint32_t at = 0;
    while (at < router->count
           && lw_template_compare(router->routes[at].template, t) <= 0)
        at++;
    memmove(router->routes + at + 1, router->routes + at,
            (router->count - at) * sizeof *router->routes);
    router->count++;
    return &router->routes[at];
}

static bool is_known(const struct lw_router *router, const struct lw_template *t)
{
    for (uint32_t i = 0; i < router->count; i++) {
        const struct lw_template *other = router->routes[i].template;
        bool same = other->part_count == t->part_count;
        for (uint32_t j = 0; same && j < t->part_count; j++)
            same = other->parts[j].kind == t->parts[j].kind
                   && (t->parts[j].kind != LW_PART_LITERAL
                       || lw_slice_equal(other->parts[j].text, t->parts[j].text));
        if (same)
            return true;
    }
    return false;
}

bool lw_router_add(struct lw_router *router, struct luaweb_slice text,
                   uint32_t resource, const char **why)
{
    struct lw_template *template = lw_alloc(sizeof *template);
    if (!lw_template_construct(template, text, why)) {
        free(template);
        return false;
    }
    if (is_known(router, template)) {
        *why = "matches the same paths as a template declared before";
        lw_template_destruct(template);
        free(template);
        return false;
    }
    *insert(router, template) = (struct lw_route){template, resource};
    return true;
}

bool lw_router_match(const struct lw_router *router, struct luaweb_slice path,
                     uint32_t *resource, struct luaweb_field *pairs, uint32_t *count)
{
    for (uint32_t i = 0; i < router->count; i++) {
        if (!lw_template_match(router->routes[i].template, path, pairs, count))
            continue;
        *resource = router->routes[i].resource;
        return true;
    }
    return false;
}
