/* SPDX-License-Identifier: MIT
 *
 * A bump arena: memory that lives as long as one request.  It keeps its first block, so
 * that a usual request allocates nothing; what did not fit is freed by the reset. */
#ifndef LW_BASE_ARENA_H
#define LW_BASE_ARENA_H

#include <stddef.h>

#define LW_ARENA_BLOCK 4096

struct lw_arena_block;

struct lw_arena {
    char *at;
    char *end;
    char *first;                 /* owned until the arena is destructed */
    struct lw_arena_block *more; /* owned until the next reset */
};

void lw_arena_construct(struct lw_arena *arena);
void lw_arena_destruct(struct lw_arena *arena);

/* Gives `size` octets, aligned for any type, lent until the reset. */
void *lw_arena_alloc(struct lw_arena *arena, size_t size);

/* Takes everything back. */
void lw_arena_reset(struct lw_arena *arena);

#endif
