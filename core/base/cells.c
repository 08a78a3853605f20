/* SPDX-License-Identifier: MIT
 *
 * Free lists of cells, cut from chunks. */
#include "base/cells.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 65536,
    LARGEST = (LW_CELL_CLASSES - 1) * LW_CELL_STEP
};

struct lw_cell {
    struct lw_cell *next;
};

struct lw_cells_chunk {
    struct lw_cells_chunk *next;
};

static size_t class_of(size_t size)
{
    return (size + LW_CELL_STEP - 1) / LW_CELL_STEP;
}

void lw_cells_destruct(struct lw_cells *cells)
{
    while (cells->chunks) {
        struct lw_cells_chunk *chunk = cells->chunks;
        cells->chunks = chunk->next;
        free(chunk);
    }
    memset(cells, 0, sizeof *cells);
}

static void give(struct lw_cells *cells, void *memory, size_t size)
{
    struct lw_cell *cell = memory;
    cell->next = cells->free[class_of(size)];
    cells->free[class_of(size)] = cell;
}

/* Cuts a cell off the newest chunk.  What is left of the one before becomes a cell too:
 * it has a multiple of the step.  Apart, as it is rare: what calls it needs no
 * frame. */
static __attribute__((noinline)) void *cut(struct lw_cells *cells, size_t size)
{
    if (size > LARGEST)
        return malloc(size);
    size = class_of(size) * LW_CELL_STEP;
    if (size > (size_t)(cells->end - cells->at)) {
        struct lw_cells_chunk *chunk = malloc(CHUNK);
        if (!chunk)
            return NULL;
        if (cells->end > cells->at)
            give(cells, cells->at, (size_t)(cells->end - cells->at));
        chunk->next = cells->chunks;
        cells->chunks = chunk;
        cells->at = (char *)chunk + LW_CELL_STEP;
        cells->end = (char *)chunk + CHUNK;
    }
    void *memory = cells->at;
    cells->at += size;
    return memory;
}

static void *take(struct lw_cells *cells, size_t size)
{
    struct lw_cell *cell = size > LARGEST ? NULL : cells->free[class_of(size)];
    if (!cell)
        return cut(cells, size);
    cells->free[class_of(size)] = cell->next;
    return cell;
}

static __attribute__((noinline)) void *move(struct lw_cells *cells, void *memory,
                                            size_t old_size, size_t new_size)
{
    if (old_size > LARGEST && new_size > LARGEST)
        return realloc(memory, new_size);
    void *moved = take(cells, new_size);
    if (!moved)
        return NULL;
    memcpy(moved, memory, old_size < new_size ? old_size : new_size);
    lw_cells_resize(cells, memory, old_size, 0);
    return moved;
}

void *lw_cells_resize(struct lw_cells *cells, void *memory, size_t old_size,
                      size_t new_size)
{
    if (!memory)
        return new_size > 0 ? take(cells, new_size) : NULL;
    if (new_size > 0)
        return move(cells, memory, old_size, new_size);
    if (old_size > LARGEST)
        free(memory);
    else
        give(cells, memory, old_size);
    return NULL;
}
