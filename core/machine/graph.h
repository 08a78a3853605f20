/* SPDX-License-Identifier: MIT
 *
 * A decision graph: the rows that Lua hands over (lua/luaweb/graph.lua), each with the
 * C function that answers it where the app doesn't.  Arrows point down, so that every
 * walk ends.  It knows no machine and no request. */
#ifndef LW_MACHINE_GRAPH_H
#define LW_MACHINE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi_app.h"

#define LW_GRAPH_ROWS 250 /* at most: the compiler's tables have a place for each */

struct lw_core;

struct lw_row {
    struct luaweb_row given;    /* its name is owned by the graph */
    const struct lw_core *core; /* NULL: only the app or the method answers */
};

struct lw_graph {
    struct lw_row *rows; /* owned */
    uint32_t count;
    /* Where rows are of which more is to be known; count: nowhere. */
    uint32_t exists;
    uint32_t origin_given;
    uint32_t origin_allowed;
    uint32_t media_type_offered;
};

/* Copies rows.  false with a static sentence in *why and the row in *row; then nothing
 * is owned. */
bool lw_graph_construct(struct lw_graph *graph, const struct luaweb_row *rows,
                        uint32_t count, const char **why, uint32_t *row);
/* The index of a row, or the number of rows: there is none of that name. */
uint32_t lw_graph_find(const struct lw_graph *graph, const char *name);

void lw_graph_destruct(struct lw_graph *graph);

#endif
