/* SPDX-License-Identifier: MIT
 *
 * Takes the rows over, and refuses what could make a walk go astray. */
#include "machine/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "machine/core.h"

static bool is_arrow(int32_t arrow, uint32_t row, uint32_t count)
{
    if (arrow < 0)
        return arrow <= -200 && arrow >= -599;
    return (uint32_t)arrow > row && (uint32_t)arrow < count;
}

static const char *fault_of(const struct luaweb_row *row, uint32_t index,
                            uint32_t count)
{
    if (!is_arrow(row->yes, index, count) || !is_arrow(row->no, index, count))
        return "an arrow leads neither down nor to a status";
    if (row->flags & LUAWEB_ROW_CORE && !lw_core_find(row->name))
        return "the core has no answer to this question";
    return NULL;
}

bool lw_graph_construct(struct lw_graph *graph, const struct luaweb_row *rows,
                        uint32_t count, const char **why, uint32_t *row)
{
    graph->rows = NULL;
    graph->count = 0;
    *why = count == 0 || count > LW_GRAPH_ROWS ? "no graph has so many rows" : NULL;
    for (uint32_t i = 0; !*why && i < count; i++) {
        *why = fault_of(&rows[i], i, count);
        *row = i;
    }
    if (*why)
        return false;
    graph->rows = lw_alloc(count * sizeof *graph->rows);
    graph->count = count;
    for (uint32_t i = 0; i < count; i++) {
        size_t size = strlen(rows[i].name) + 1;
        char *name = lw_alloc(size);
        memcpy(name, rows[i].name, size);
        graph->rows[i].given = rows[i];
        graph->rows[i].given.name = name;
        graph->rows[i].core =
            rows[i].flags & LUAWEB_ROW_CORE ? lw_core_find(name) : NULL;
    }
    graph->exists = lw_graph_find(graph, "exists");
    graph->origin_given = lw_graph_find(graph, "origin_given");
    graph->origin_allowed = lw_graph_find(graph, "origin_allowed");
    graph->media_type_offered = lw_graph_find(graph, "media_type_offered");
    return true;
}

uint32_t lw_graph_find(const struct lw_graph *graph, const char *name)
{
    uint32_t i = 0;
    while (i < graph->count && strcmp(graph->rows[i].given.name, name) != 0)
        i++;
    return i;
}

void lw_graph_destruct(struct lw_graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++)
        free((char *)graph->rows[i].given.name);
    free(graph->rows);
    graph->rows = NULL;
    graph->count = 0;
}
