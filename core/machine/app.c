/* SPDX-License-Identifier: MIT
 *
 * From method and path to a decision (RFC 9110 §9.1, §15.5.5, §15.5.6, §15.6.2). */
#include "machine/app.h"

#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"

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
    for (uint32_t i = 0; i < app->resource_count; i++)
        free(app->resources[i].text);
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

int lw_app_add_resource(struct luaweb_app *app, struct luaweb_slice template_text,
                        uint32_t machine, const char **why)
{
    lw_require(machine < app->machine_count);
    if (!lw_router_add(&app->router, template_text, app->resource_count, why))
        return -1;
    app->resources =
        lw_realloc(app->resources, (app->resource_count + 1) * sizeof *app->resources);
    struct lw_resource *resource = &app->resources[app->resource_count++];
    resource->machine = app->machines[machine];
    resource->size = template_text.size;
    resource->text = lw_alloc(template_text.size);
    memcpy(resource->text, template_text.data, template_text.size);
    return 0;
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

static void decide_method(const struct luaweb_app *app,
                          const struct lw_machine *machine, struct luaweb_slice method,
                          struct lw_decision *decision)
{
    decision->body_limit = machine->body_limit;
    if (lw_machine_find(machine, method, &decision->function))
        return;
    decision->allow = machine->allow;
    if (lw_slice_equal(method, LW_SLICE("OPTIONS")))
        decision->status = 204;
    else
        decision->status = is_implemented(app, method) ? 405 : 501;
}

void lw_app_decide(const struct luaweb_app *app, const struct luaweb_request *request,
                   bool is_server_wide, struct lw_decision *decision,
                   struct luaweb_field *pairs, uint32_t *count)
{
    *decision = (struct lw_decision){0};
    *count = 0;
    if (is_server_wide) {
        decision->status = 204;
        return;
    }
    uint32_t number;
    if (!lw_router_match(&app->router, request->path, &number, pairs, count)) {
        bool is_connect = lw_slice_equal(request->method, LW_SLICE("CONNECT"));
        decision->status = is_connect ? 501 : 404;
        return;
    }
    const struct lw_resource *resource = &app->resources[number];
    decision->resource = lw_slice(resource->text, resource->size);
    decide_method(app, resource->machine, request->method, decision);
}
