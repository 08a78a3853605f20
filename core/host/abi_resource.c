/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions by which Lua gives an app its resources (base/abi.h): for
 * the rules, see abi.c.  They run while an app loads. */
#include "base/slice.h"
#include "host/vm.h"
#include "machine/app.h"

#define EXPORT __attribute__((visibility("default")))

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

EXPORT int luaweb_app_build(struct luaweb_host *host, struct luaweb_app *app,
                            int *winner)
{
    (void)host;
    return lw_app_build(app, winner);
}
