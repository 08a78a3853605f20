/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions by which Lua gives an app its machines and resources
 * (base/abi_app.h): for the rules, see abi.c.  They run while an app loads. */
#include "base/abi_app.h"
#include "base/require.h"
#include "base/slice.h"
#include "host/vm.h"
#include "machine/app.h"
#include "share/metrics.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int luaweb_app_graph(struct luaweb_host *host, struct luaweb_app *app,
                            const struct luaweb_row *rows, uint32_t count,
                            const char **why, uint32_t *row)
{
    (void)host;
    return lw_app_add_graph(app, rows, count, why, row);
}

EXPORT int luaweb_app_machine(struct luaweb_host *host, struct luaweb_app *app,
                              int graph)
{
    (void)host;
    return lw_app_add_machine(app, (uint32_t)graph);
}

static struct lw_machine *find(struct luaweb_app *app, int machine)
{
    lw_require(machine >= 0 && (uint32_t)machine < app->machine_count);
    return app->machines[machine];
}

EXPORT void luaweb_machine_answer(struct luaweb_host *host, struct luaweb_app *app,
                                  int machine, uint32_t row, int answer,
                                  uint32_t function)
{
    (void)host;
    struct lw_machine *m = find(app, machine);
    lw_require(row < m->graph->count);
    m->said[row] = (struct lw_said){answer, function};
}

EXPORT bool luaweb_machine_method(struct luaweb_host *host, struct luaweb_app *app,
                                  int machine, const char *name, size_t size,
                                  uint32_t bit, uint32_t operation, uint32_t reply)
{
    (void)host;
    return lw_machine_add_method(find(app, machine), lw_slice(name, size), bit,
                                 operation, reply);
}

EXPORT void luaweb_machine_property(struct luaweb_host *host, struct luaweb_app *app,
                                    int machine, int property, const char *text,
                                    size_t size, double number, uint32_t function)
{
    (void)host;
    lw_require(property >= 0 && property < LUAWEB_PROPERTIES);
    lw_machine_set(find(app, machine), (enum luaweb_property)property,
                   lw_slice(text, size), number, function);
}

EXPORT bool luaweb_machine_handler(struct luaweb_host *host, struct luaweb_app *app,
                                   int machine, int status, uint32_t function)
{
    (void)host;
    return lw_machine_add_handler(find(app, machine), status, function, lw_slice("", 0),
                                  lw_slice("", 0));
}

EXPORT bool luaweb_machine_constant(struct luaweb_host *host, struct luaweb_app *app,
                                    int machine, int status, const char *type,
                                    size_t type_size, const char *text, size_t size)
{
    (void)host;
    return lw_machine_add_handler(find(app, machine), status, 0,
                                  lw_slice(type, type_size), lw_slice(text, size));
}

EXPORT bool luaweb_machine_offer(struct luaweb_host *host, struct luaweb_app *app,
                                 int machine, uint32_t index, uint32_t function)
{
    (void)host;
    if (index >= LW_MACHINE_OFFERS)
        return false;
    find(app, machine)->offers[index] = function;
    return true;
}

EXPORT void luaweb_machine_gate(struct luaweb_host *host, struct luaweb_app *app,
                                int machine, uint32_t function)
{
    (void)host;
    find(app, machine)->gate = function;
}

EXPORT void luaweb_app_unmatched(struct luaweb_host *host, struct luaweb_app *app,
                                 int machine)
{
    (void)host;
    struct lw_machine *m = find(app, machine);
    uint32_t not_options = lw_graph_find(m->graph, "not_options");
    m->is_unmatched = true;
    if (not_options < m->graph->count) /* nothing is here to be asked about */
        m->said[not_options].answer = LUAWEB_ANSWER_YES;
    app->unmatched = m;
}

EXPORT int luaweb_app_resource(struct luaweb_host *host, struct luaweb_app *app,
                               const char *template_text, size_t size, const char **why,
                               int *other)
{
    (void)host;
    struct lw_refusal refusal;
    int32_t number = lw_app_add_resource(app, lw_slice(template_text, size), &refusal);
    *why = refusal.why;
    *other = refusal.other;
    return number;
}

EXPORT bool luaweb_app_demand(struct luaweb_host *host, struct luaweb_app *app,
                              int resource, const char *name, size_t size, int demand)
{
    (void)host;
    return lw_app_demand(app, (uint32_t)resource, lw_slice(name, size),
                         (enum luaweb_demand)demand);
}

EXPORT void luaweb_app_assign(struct luaweb_host *host, struct luaweb_app *app,
                              int resource, int machine)
{
    (void)host;
    lw_app_assign(app, (uint32_t)resource, (uint32_t)machine);
}

/* Under what requests are counted: label and method of a series. */
static void give_keys(struct luaweb_app *app)
{
    for (uint32_t i = 0; i < app->resource_count; i++) {
        uint32_t label = lw_metrics_label(app->router.templates[i]->text);
        app->resources[i].key = lw_metrics_key(LW_METRIC_REQUEST, label, 0, 0);
    }
    app->unmatched_key = lw_metrics_key(LW_METRIC_REQUEST, LW_LABEL_UNMATCHED, 0, 0);
    for (uint32_t i = 0; i < app->machine_count; i++)
        for (uint32_t m = 0; m < app->machines[i]->method_count; m++) {
            struct lw_method *method = &app->machines[i]->methods[m];
            method->key = lw_metrics_key_method(lw_metrics_method(method->name));
        }
}

EXPORT int luaweb_app_build(struct luaweb_host *host, struct luaweb_app *app,
                            int *winner)
{
    (void)host;
    give_keys(app);
    return lw_app_build(app, winner);
}
