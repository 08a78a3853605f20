/* SPDX-License-Identifier: MIT
 *
 * From method and path to a decision (RFC 9110 §9.1, §15.5.5, §15.5.6, §15.6.2). */
#include "machine/app.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "route/capture.h"
#include "route/path.h"
#include "route/value.h"

static_assert(sizeof((struct lw_resource *)0)->demands == LW_TEMPLATE_VARIABLES,
              "a variable has a demand");

void lw_app_construct(struct luaweb_app *app)
{
    memset(app, 0, sizeof *app);
    lw_router_construct(&app->router);
}

void lw_app_destruct(struct luaweb_app *app)
{
    lw_router_destruct(&app->router);
    for (uint32_t i = 0; i < app->machine_count; i++) {
        lw_machine_destruct(app->machines[i]);
        free(app->machines[i]);
    }
    free(app->machines);
    free(app->resources);
    memset(app, 0, sizeof *app);
}

int lw_app_add_machine(struct luaweb_app *app, struct luaweb_slice lines,
                       uint64_t body_limit, const char **why)
{
    struct lw_machine *machine = lw_alloc(sizeof *machine);
    if (!lw_machine_construct(machine, lines, body_limit, why)) {
        free(machine);
        return -1;
    }
    app->machines =
        lw_realloc(app->machines, (app->machine_count + 1) * sizeof *app->machines);
    app->machines[app->machine_count] = machine;
    return (int)app->machine_count++;
}

int32_t lw_app_add_resource(struct luaweb_app *app, struct luaweb_slice template_text,
                            struct lw_refusal *refusal)
{
    int32_t number = lw_router_add(&app->router, template_text, refusal);
    if (number < (int32_t)app->resource_count)
        return number;
    uint32_t count = app->resource_count + 1;
    app->resources = lw_realloc(app->resources, count * sizeof *app->resources);
    app->resources[app->resource_count++] = (struct lw_resource){0};
    return number;
}

/* Whether the variable's expression has room for it in every path. */
static bool has_room(const struct lw_template *template, uint32_t variable)
{
    const struct lw_expression *expression = template->expressions;
    while (variable - expression->first >= expression->count)
        expression++;
    return lw_operators[expression->op].first == 0;
}

bool lw_app_demand(struct luaweb_app *app, uint32_t resource, struct luaweb_slice name,
                   enum luaweb_demand demand)
{
    lw_require(resource < app->resource_count && demand <= LUAWEB_DEMAND_UUID);
    const struct lw_template *template = app->router.templates[resource];
    uint32_t at = 0;
    while (at < template->variable_count
           && !lw_slice_equal(template->variables[at].name, name))
        at++;
    if (at == template->variable_count)
        return false;
    struct lw_resource *r = &app->resources[resource];
    r->has_demands = true;
    r->demands[at] = (uint8_t)demand;
    if (has_room(template, at))
        r->demanded |= 1U << at;
    return true;
}

void lw_app_assign(struct luaweb_app *app, uint32_t resource, uint32_t machine)
{
    lw_require(resource < app->resource_count && machine < app->machine_count);
    app->resources[resource].machine = app->machines[machine];
}

int32_t lw_app_build(struct luaweb_app *app, int32_t *winner)
{
    int32_t hidden;
    for (uint32_t i = 0; i < app->resource_count; i++)
        lw_require(app->resources[i].machine);
    return lw_router_build(&app->router, &hidden, winner) ? LW_NO_ROUTE : hidden;
}

/* Methods that we know of although no machine may have them. */
static const char *const standard_methods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                               "PATCH", "DELETE", "OPTIONS"};

static bool is_implemented(const struct luaweb_app *app, struct luaweb_slice method)
{
    for (size_t i = 0; i < sizeof standard_methods / sizeof *standard_methods; i++)
        if (lw_slice_equal(method,
                           lw_slice(standard_methods[i], strlen(standard_methods[i]))))
            return true;
    for (uint32_t i = 0; i < app->machine_count; i++)
        for (uint32_t j = 0; j < app->machines[i]->method_count; j++)
            if (lw_slice_equal(app->machines[i]->methods[j].name, method))
                return true;
    return false;
}

static void decide_method(const struct luaweb_app *app, struct luaweb_slice method,
                          struct lw_decision *decision)
{
    const struct lw_machine *machine = app->resources[decision->match.route].machine;
    decision->body_limit = machine->body_limit;
    if (lw_machine_find(machine, method, &decision->function))
        return;
    decision->allow = machine->allow;
    if (lw_slice_equal(method, LW_SLICE("OPTIONS")))
        decision->status = 204;
    else
        decision->status = is_implemented(app, method) ? 405 : 501;
}

/* The normal form of a text, in the arena where it is another one.  False: it has
 * none. */
static bool normalise(struct luaweb_slice *text, struct lw_arena *arena)
{
    if (lw_path_is_normal(*text))
        return true;
    char *out = lw_arena_alloc(arena, text->size);
    size_t size;
    if (!lw_path_normalise(*text, out, &size))
        return false;
    *text = lw_slice(out, size);
    return true;
}

/* Whether a value meets what is demanded of its variable. */
static bool is_met(const struct lw_resource *resource, const struct lw_match *match,
                   const struct lw_capture *capture)
{
    enum luaweb_demand demand = resource->demands[capture->variable];
    const struct lw_variable *variable =
        &match->entry->template->variables[capture->variable];
    if (demand == LUAWEB_DEMAND_NONE)
        return true;
    if (capture->kind == LUAWEB_PARAM_ITEM && !variable->is_exploded)
        return false;
    return lw_value_meets(demand, capture->value);
}

static bool are_met(const struct lw_resource *resource, const struct lw_match *match)
{
    uint32_t missing = resource->demanded;
    struct lw_captures captures;
    struct lw_capture capture;
    if (!resource->has_demands)
        return true;
    lw_captures_start(&captures, match);
    while (lw_captures_next(&captures, &capture)) {
        if (!is_met(resource, match, &capture))
            return false;
        missing &= ~(1U << capture.variable);
    }
    return missing == 0;
}

/* Finds the resource; false: there is none for this request. */
static bool find_resource(const struct luaweb_app *app,
                          const struct luaweb_request *request, struct lw_arena *arena,
                          struct lw_decision *decision)
{
    struct lw_match *match = &decision->match;
    struct luaweb_slice path = request->path;
    if (!normalise(&path, arena) || !lw_router_match(&app->router, path, match))
        return false;
    const struct lw_template *template = match->entry->template;
    if (match->entry->part_count < template->part_count && request->has_query) {
        match->query = request->query;
        normalise(&match->query, arena); /* else it stays as it came */
    }
    const struct lw_resource *resource = &app->resources[match->route];
    decision->resource = template->text;
    decision->demands = resource->demands;
    return are_met(resource, match);
}

void lw_app_decide(const struct luaweb_app *app, const struct luaweb_request *request,
                   bool is_server_wide, struct lw_arena *arena,
                   struct lw_decision *decision)
{
    decision->status = 0;
    decision->resource = lw_slice(NULL, 0);
    decision->allow = NULL;
    decision->body_limit = 0;
    if (is_server_wide) {
        decision->status = 204;
    } else if (find_resource(app, request, arena, decision)) {
        decide_method(app, request->method, decision);
    } else {
        bool is_connect = lw_slice_equal(request->method, LW_SLICE("CONNECT"));
        decision->status = is_connect ? 501 : 404;
    }
}
