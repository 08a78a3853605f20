/* SPDX-License-Identifier: MIT
 *
 * The bump arena: one kept block, then blocks of at least its size in a list. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/require.h"

struct lw_arena_block {
    struct lw_arena_block *next;
    alignas(max_align_t) char data[];
};

void lw_arena_construct(struct lw_arena *arena)
{
    arena->first = lw_alloc(LW_ARENA_BLOCK);
    arena->more = NULL;
    arena->at = arena->first;
    arena->end = arena->first + LW_ARENA_BLOCK;
}

void lw_arena_destruct(struct lw_arena *arena)
{
    lw_arena_reset(arena);
    free(arena->first);
    arena->first = arena->at = arena->end = NULL;
}

/* Begins a block with room for `size` octets.  Apart, so that the usual case has no
 * registers to save. */
static __attribute__((noinline)) void add_block(struct lw_arena *arena, size_t size)
{
    size_t room = size > LW_ARENA_BLOCK ? size : LW_ARENA_BLOCK;
    struct lw_arena_block *block = lw_alloc(sizeof *block + room);
    block->next = arena->more;
    arena->more = block;
    arena->at = block->data;
    arena->end = block->data + room;
}

void *lw_arena_alloc(struct lw_arena *arena, size_t size)
{
    const size_t align = alignof(max_align_t);
    lw_require(size <= SIZE_MAX / 2);
    size = (size + align - 1) / align * align;
    if (size > (size_t)(arena->end - arena->at))
        add_block(arena, size);
    void *memory = arena->at;
    arena->at += size;
    return memory;
}

void lw_arena_reset(struct lw_arena *arena)
{
    while (arena->more) {
        struct lw_arena_block *block = arena->more;
        arena->more = block->next;
        free(block);
    }
    arena->at = arena->first;
    arena->end = arena->first + LW_ARENA_BLOCK;
}
