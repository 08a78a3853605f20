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
    for (uint32_t i = 0; i < app->graph_count; i++) {
        lw_graph_destruct(app->graphs[i]);
        free(app->graphs[i]);
    }
    for (uint32_t i = 0; i < app->program_count; i++)
        free(app->programs[i]);
    free(app->customs);
    free(app->programs);
    free(app->graphs);
    free(app->machines);
    free(app->resources);
    memset(app, 0, sizeof *app);
}

/* Room for one more in an owned list of pointers. */
static void *grown(void *list, uint32_t count)
{
    return lw_realloc(list, (count + 1) * sizeof(void *));
}

int lw_app_add_graph(struct luaweb_app *app, const struct luaweb_row *rows,
                     uint32_t count, const char **why, uint32_t *row)
{
    struct lw_graph *graph = lw_alloc(sizeof *graph);
    if (!lw_graph_construct(graph, rows, count, why, row)) {
        free(graph);
        return -1;
    }
    app->graphs = grown(app->graphs, app->graph_count);
    app->graphs[app->graph_count++] = graph;
    return (int)app->graph_count - 1;
}

int lw_app_add_machine(struct luaweb_app *app, uint32_t graph)
{
    lw_require(graph < app->graph_count);
    struct lw_machine *machine = lw_alloc(sizeof *machine);
    lw_machine_construct(machine, app->graphs[graph]);
    app->machines = grown(app->machines, app->machine_count);
    app->machines[app->machine_count++] = machine;
    return (int)app->machine_count - 1;
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

/* Methods that we know of although no machine may have them. */
static const char *const usual_methods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                            "PATCH", "DELETE", "OPTIONS"};

static bool is_usual(struct luaweb_slice method)
{
    for (size_t i = 0; i < sizeof usual_methods / sizeof *usual_methods; i++)
        if (lw_slice_equal(method,
                           lw_slice(usual_methods[i], strlen(usual_methods[i]))))
            return true;
    return false;
}

static bool is_implemented(const struct luaweb_app *app, struct luaweb_slice method)
{
    if (is_usual(method))
        return true;
    for (uint32_t i = 0; i < app->custom_count; i++)
        if (lw_slice_equal(app->customs[i]->name, method))
            return true;
    return false;
}

/* The program of a method: one that is there already, where it is the same. */
static const struct lw_plan *program(struct luaweb_app *app,
                                     const struct lw_machine *machine,
                                     const struct lw_method *method)
{
    struct lw_plan *plan = lw_plan_compile(machine, method, NULL);
    for (uint32_t i = 0; i < app->program_count; i++)
        if (lw_plan_equal(app->programs[i], plan)) {
            free(plan);
            return app->programs[i];
        }
    app->programs = grown(app->programs, app->program_count);
    app->programs[app->program_count++] = plan;
    return plan;
}

static void build_machine(struct luaweb_app *app, struct lw_machine *machine)
{
    lw_machine_finish(machine);
    for (uint32_t i = 0; i < machine->method_count; i++) {
        struct lw_method *method = &machine->methods[i];
        method->program = program(app, machine, method);
        bool is_any = lw_slice_equal(method->name, LW_SLICE("*"));
        if (is_any || is_implemented(app, method->name))
            continue;
        app->customs = grown(app->customs, app->custom_count);
        app->customs[app->custom_count++] = method;
    }
    machine->refused.program = program(app, machine, &machine->refused);
    machine->unknown.program = program(app, machine, &machine->unknown);
}

int32_t lw_app_build(struct luaweb_app *app, int32_t *winner)
{
    int32_t hidden;
    for (uint32_t i = 0; i < app->resource_count; i++)
        lw_require(app->resources[i].machine);
    lw_require(app->unmatched);
    for (uint32_t i = 0; i < app->machine_count; i++)
        build_machine(app, app->machines[i]);
    return lw_router_build(&app->router, &hidden, winner) ? LW_NO_ROUTE : hidden;
}

const struct lw_method *lw_app_method(const struct luaweb_app *app,
                                      const struct lw_machine *machine,
                                      struct luaweb_slice name)
{
    const struct lw_method *method = lw_machine_find(machine, name);
    if (method)
        return method;
    if (machine->is_unmatched && !lw_slice_equal(name, LW_SLICE("CONNECT")))
        return lw_machine_find(machine, LW_SLICE("*"));
    return is_implemented(app, name) ? &machine->refused : &machine->unknown;
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
    decision->machine = resource->machine;
    decision->resource = template->text;
    decision->demands = resource->demands;
    decision->key = resource->key;
    return are_met(resource, match);
}

void lw_app_decide(const struct luaweb_app *app, const struct luaweb_request *request,
                   bool is_server_wide, struct lw_arena *arena,
                   struct lw_decision *decision)
{
    decision->machine = NULL;
    decision->method = NULL;
    decision->demands = NULL;
    decision->resource = lw_slice(NULL, 0);
    decision->key = app->unmatched_key;
    if (is_server_wide)
        return;
    if (!find_resource(app, request, arena, decision)) {
        decision->machine = app->unmatched;
        decision->demands = NULL;
    }
    decision->method = lw_app_method(app, decision->machine, request->method);
}
