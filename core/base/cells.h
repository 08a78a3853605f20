/* SPDX-License-Identifier: MIT
 *
 * Memory for a great many small objects whose sizes their owner remembers: a list of
 * free cells for each size, so that taking and giving back is a handful of
 * instructions.  Cells of one size never serve another one, and what was taken from the
 * system stays here until the end.  Larger objects are the system's. */
#ifndef LW_BASE_CELLS_H
#define LW_BASE_CELLS_H

#include <stddef.h>

#define LW_CELL_STEP    16 /* octets: sizes are multiples of it */
#define LW_CELL_CLASSES 33 /* the largest cell has 512 octets */

struct lw_cells {
    struct lw_cell *free[LW_CELL_CLASSES]; /* by size in steps */
    struct lw_cells_chunk *chunks;         /* owned */
    char *at;                              /* what is left of the newest chunk */
    char *end;
};

/* Zeroed, it is empty. */
void lw_cells_destruct(struct lw_cells *cells);

/* Makes `old_size` octets at `memory` (NULL: none) `new_size` of them, as lua_Alloc
 * wants it: they may move, 0 gives them back.  NULL: there is no memory, and what was
 * there stays as it is.  Aligned by 16. */
void *lw_cells_resize(struct lw_cells *cells, void *memory, size_t old_size,
                      size_t new_size);

#endif
