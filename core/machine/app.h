/* SPDX-License-Identifier: MIT
 *
 * An app as C knows it: resources (template + machine), and the answer to "who serves
 * this request?".  It owns its router and machines and runs nothing. */
#ifndef LW_MACHINE_APP_H
#define LW_MACHINE_APP_H

#include "machine/machine.h"
#include "route/router.h"

struct lw_resource {
    struct lw_machine *machine; /* borrowed from the app's machines */
    char *text;                 /* of its template; owned */
    size_t size;
};

struct luaweb_app {
    struct lw_router router;
    struct lw_machine **machines; /* owned */
    uint32_t machine_count;
    struct lw_resource *resources; /* owned, by the router's number */
    uint32_t resource_count;
};

/* What is to be done with a request. */
struct lw_decision {
    int status; /* 0: call `function`; else C answers with this status */
    uint32_t function;
    struct luaweb_slice resource; /* its template, lent by the app; empty: none */
    const char *allow;            /* for 405 and OPTIONS, else NULL; lent by the app */
    uint64_t body_limit;          /* of the machine; meaningful when status is 0 */
};

void lw_app_construct(struct luaweb_app *app);
void lw_app_destruct(struct luaweb_app *app);

/* Adds a machine (see lw_machine_construct): its number, or -1 with *why. */
int lw_app_add_machine(struct luaweb_app *app, struct luaweb_slice lines,
                       uint64_t body_limit, const char **why);

/* Adds a resource: 0, or -1 with *why. */
int lw_app_add_resource(struct luaweb_app *app, struct luaweb_slice template_text,
                        uint32_t machine, const char **why);

/* Decides for method and path (request->method, ->path), and fills in the captured
 * pairs (room for LW_TEMPLATE_VARIABLES; raw).  `is_server_wide` marks `OPTIONS *`. */
void lw_app_decide(const struct luaweb_app *app, const struct luaweb_request *request,
                   bool is_server_wide, struct lw_decision *decision,
                   struct luaweb_field *pairs, uint32_t *count);

#endif
