/* SPDX-License-Identifier: MIT
 *
 * The fields of the CORS protocol.  A preflight is told the lists as they are, not what
 * it asked for: that can be cached, reflects nothing, and lets the browser name what is
 * missing (Fetch, CORS protocol). */
#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "http/fields.h"
#include "machine/field_lines.h"

#define BIT(property) (1U << (property))

#define SIMPLE (BIT(LUAWEB_CORS_CREDENTIALS) | BIT(LUAWEB_CORS_EXPOSE))
#define PREFLIGHT                                            \
    (BIT(LUAWEB_CORS_CREDENTIALS) | BIT(LUAWEB_CORS_METHODS) \
     | BIT(LUAWEB_CORS_HEADERS) | BIT(LUAWEB_CORS_MAX_AGE)   \
     | BIT(LUAWEB_CORS_PRIVATE_NETWORK))

/* Not where the walk has ended above the rows of CORS: the policy is that of a host
 * that is not ours. */
bool lw_cors_concerns(const struct lw_walk *walk)
{
    return walk->machine->has_cors && walk->row >= walk->machine->graph->origin_given;
}

uint32_t lw_cors_needs(const struct lw_walk *walk)
{
    if (!(walk->facts & LW_FACT_ORIGIN_ALLOWED) || !lw_cors_concerns(walk))
        return 0;
    return walk->facts & LW_FACT_PREFLIGHT ? PREFLIGHT : SIMPLE;
}

static bool is_star(const struct lw_list *list)
{
    return list->count == 1 && lw_slice_equal(list->items[0], LW_SLICE("*"));
}

static bool is_on(struct lw_lines *lines, enum luaweb_property property)
{
    struct lw_value value;
    return lw_walk_value(lines->walk, property, &value) && value.number != 0;
}

static struct luaweb_slice header(const struct lw_walk *walk, const char *name)
{
    const struct luaweb_fields *headers = &walk->request->headers;
    const struct luaweb_field *field =
        lw_fields_find(headers->list, headers->count, lw_slice(name, strlen(name)));
    return field ? field->value : lw_slice(NULL, 0);
}

static void put_methods(struct lw_lines *lines, bool has_credentials)
{
    const struct lw_machine *machine = lines->walk->machine;
    struct luaweb_slice own = lw_slice(machine->allow, strlen(machine->allow));
    struct lw_list list;
    lw_walk_list(lines->walk, LUAWEB_CORS_METHODS, &list);
    bool is_own = list.count == 0 || (is_star(&list) && has_credentials);
    lw_lines_put(lines, "Access-Control-Allow-Methods",
                 is_own ? own : lw_lines_join(lines, &list));
}

/* The names that were asked for, if they are names. */
static void put_asked_headers(struct lw_lines *lines)
{
    struct luaweb_slice asked = header(lines->walk, "Access-Control-Request-Headers");
    struct luaweb_slice rest = asked;
    struct luaweb_slice name;
    lw_lines_add(lines, "Vary", LW_SLICE("Access-Control-Request-Headers"));
    while (lw_list_next(&rest, &name))
        if (lw_token_size(name.data, name.size) != name.size)
            return;
    if (asked.size > 0)
        lw_lines_put(lines, "Access-Control-Allow-Headers", asked);
}

static void put_headers(struct lw_lines *lines, bool has_credentials)
{
    struct lw_list list;
    lw_walk_list(lines->walk, LUAWEB_CORS_HEADERS, &list);
    if (is_star(&list) && has_credentials)
        put_asked_headers(lines);
    else if (list.count > 0)
        lw_lines_put(lines, "Access-Control-Allow-Headers",
                     lw_lines_join(lines, &list));
}

static void put_preflight(struct lw_lines *lines, bool has_credentials)
{
    struct lw_value age;
    char digits[24];
    put_methods(lines, has_credentials);
    put_headers(lines, has_credentials);
    if (lw_walk_value(lines->walk, LUAWEB_CORS_MAX_AGE, &age) && age.text.data) {
        int size = snprintf(digits, sizeof digits, "%.0f", age.number);
        lw_lines_put(lines, "Access-Control-Max-Age",
                     lw_slice(digits, size > 0 ? (size_t)size : 0));
    }
    struct luaweb_slice asked =
        header(lines->walk, "Access-Control-Request-Private-Network");
    if (lw_slice_equal(asked, LW_SLICE("true"))
        && is_on(lines, LUAWEB_CORS_PRIVATE_NETWORK))
        lw_lines_put(lines, "Access-Control-Allow-Private-Network", LW_SLICE("true"));
}

void lw_cors_write(struct lw_lines *lines)
{
    struct lw_walk *walk = lines->walk;
    struct lw_list exposed;
    if (!(walk->facts & LW_FACT_ORIGIN_ALLOWED))
        return;
    bool has_credentials = is_on(lines, LUAWEB_CORS_CREDENTIALS);
    lw_lines_put(lines, "Access-Control-Allow-Origin",
                 walk->machine->is_open ? LW_SLICE("*") : header(walk, "Origin"));
    if (has_credentials)
        lw_lines_put(lines, "Access-Control-Allow-Credentials", LW_SLICE("true"));
    if (walk->facts & LW_FACT_PREFLIGHT) {
        put_preflight(lines, has_credentials);
    } else if (lw_walk_list(walk, LUAWEB_CORS_EXPOSE, &exposed) && exposed.count > 0) {
        lw_lines_put(lines, "Access-Control-Expose-Headers",
                     lw_lines_join(lines, &exposed));
    }
}
