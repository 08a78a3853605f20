/* SPDX-License-Identifier: MIT
 *
 * An app as C knows it: resources (template + machine), and the answer to "who serves
 * this request?".  It owns its router and machines and runs nothing. */
#ifndef LW_MACHINE_APP_H
#define LW_MACHINE_APP_H

#include "base/abi_app.h"
#include "base/arena.h"
#include "machine/machine.h"
#include "route/router.h"

/* What belongs to a template. */
struct lw_resource {
    const struct lw_machine *machine; /* borrowed from the app */
    uint32_t key;                     /* of what its requests are counted under */
    uint32_t demanded;                /* bits of the variables that need a value */
    bool has_demands;
    uint8_t demands[16]; /* of the variables' values: enum luaweb_demand */
};

struct luaweb_app {
    struct lw_router router;
    struct lw_graph **graphs;      /* owned */
    struct lw_machine **machines;  /* owned */
    struct lw_resource *resources; /* owned; by the router's number */
    struct lw_plan **programs;     /* owned; no two of them are equal */
    struct lw_method **customs;    /* borrowed: one of each method that is not usual */
    const struct lw_machine *unmatched; /* of requests without a resource */
    uint32_t unmatched_key;             /* likewise */
    uint32_t graph_count;
    uint32_t machine_count;
    uint32_t resource_count;
    uint32_t program_count;
    uint32_t custom_count;
};

/* What is to be done with a request. */
struct lw_decision {
    const struct lw_machine *machine; /* NULL: OPTIONS of the server itself */
    const struct lw_method *method;
    struct luaweb_slice resource; /* its template, lent by the app; empty: none */
    const uint8_t *demands;       /* of the resource; NULL: there is none */
    uint32_t key;                 /* of the resource */
    struct lw_match match;        /* of the resource: lw_captures gives the values */
};

void lw_app_construct(struct luaweb_app *app);
void lw_app_destruct(struct luaweb_app *app);

/* Adds a graph (see lw_graph_construct): its number, or -1 with *why and *row. */
int lw_app_add_graph(struct luaweb_app *app, const struct luaweb_row *rows,
                     uint32_t count, const char **why, uint32_t *row);

/* Adds an empty machine on a graph: its number. */
int lw_app_add_machine(struct luaweb_app *app, uint32_t graph);

/* Adds a resource without a machine (see lw_router_add): its number, or LW_NO_ROUTE. */
int32_t lw_app_add_resource(struct luaweb_app *app, struct luaweb_slice template_text,
                            struct lw_refusal *refusal);

/* Demands something of a variable (see luaweb_app_demand).  false: there is none. */
bool lw_app_demand(struct luaweb_app *app, uint32_t resource, struct luaweb_slice name,
                   enum luaweb_demand demand);

/* Gives a resource its machine. */
void lw_app_assign(struct luaweb_app *app, uint32_t resource, uint32_t machine);

/* Makes ready for requests, and compiles; every resource has its machine.  LW_NO_ROUTE,
 * or the number of a resource that no path leads to, since they go to others, such as
 * *winner. */
int32_t lw_app_build(struct luaweb_app *app, int32_t *winner);

/* Finds the machine and its method for a request by method, path and query.  What has
 * to be rewritten goes into the arena; decision->match points there and into the
 * request's target.  `is_server_wide` marks `OPTIONS *`. */
void lw_app_decide(const struct luaweb_app *app, const struct luaweb_request *request,
                   bool is_server_wide, struct lw_arena *arena,
                   struct lw_decision *decision);

/* The method of a machine for a request's, which may be one that it refuses. */
const struct lw_method *lw_app_method(const struct luaweb_app *app,
                                      const struct lw_machine *machine,
                                      struct luaweb_slice name);

#endif
