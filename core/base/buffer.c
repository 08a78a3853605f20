/* SPDX-License-Identifier: MIT
 *
 * The octet queue and its pool of blocks. */
#include "base/buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"

struct lw_blocks_node {
    struct lw_blocks_node *next;
};

void lw_blocks_construct(struct lw_blocks *blocks, size_t limit)
{
    *blocks = (struct lw_blocks){.limit = limit};
}

void lw_blocks_destruct(struct lw_blocks *blocks)
{
    while (blocks->free) {
        struct lw_blocks_node *node = blocks->free;
        blocks->free = node->next;
        free(node);
    }
    blocks->count = 0;
}

static char *take_block(struct lw_blocks *blocks)
{
    struct lw_blocks_node *node = blocks->free;
    if (!node)
        return lw_alloc(LW_BLOCK);
    blocks->free = node->next;
    blocks->count--;
    return (char *)node;
}

static void give_block(struct lw_blocks *blocks, char *block)
{
    if (blocks->count == blocks->limit) {
        free(block);
        return;
    }
    struct lw_blocks_node *node = (struct lw_blocks_node *)(void *)block;
    node->next = blocks->free;
    blocks->free = node;
    blocks->count++;
}

size_t lw_buffer_size(const struct lw_buffer *buffer)
{
    return buffer->end - buffer->start;
}

/* Moves what waits into memory of at least `needed` octets. */
static void grow(struct lw_buffer *buffer, struct lw_blocks *blocks, size_t needed)
{
    size_t capacity = LW_BLOCK;
    while (capacity < needed)
        capacity *= 2;
    size_t size = lw_buffer_size(buffer);
    char *data = capacity == LW_BLOCK ? take_block(blocks) : lw_alloc(capacity);
    if (size)
        memcpy(data, buffer->data + buffer->start, size);
    lw_buffer_release(buffer, blocks);
    *buffer = (struct lw_buffer){.data = data, .end = size, .capacity = capacity};
}

/* Apart, so that the usual case has no registers to save. */
static __attribute__((noinline)) void make_room(struct lw_buffer *buffer,
                                                struct lw_blocks *blocks, size_t room)
{
    size_t size = lw_buffer_size(buffer);
    lw_require(room <= SIZE_MAX / 4 && size <= SIZE_MAX / 4);
    if (size + room > buffer->capacity) {
        grow(buffer, blocks, size + room);
        return;
    }
    memmove(buffer->data, buffer->data + buffer->start, size);
    buffer->start = 0;
    buffer->end = size;
}

void lw_buffer_reserve(struct lw_buffer *buffer, struct lw_blocks *blocks, size_t room)
{
    if (buffer->capacity - buffer->end < room)
        make_room(buffer, blocks, room);
}

void lw_buffer_append(struct lw_buffer *buffer, struct lw_blocks *blocks,
                      const void *data, size_t size)
{
    if (size == 0)
        return;
    lw_buffer_reserve(buffer, blocks, size);
    memcpy(buffer->data + buffer->end, data, size);
    buffer->end += size;
}

void lw_buffer_consume(struct lw_buffer *buffer, size_t size)
{
    lw_require(size <= lw_buffer_size(buffer));
    buffer->start += size;
}

void lw_buffer_release(struct lw_buffer *buffer, struct lw_blocks *blocks)
{
    if (!buffer->data)
        return;
    if (buffer->capacity == LW_BLOCK)
        give_block(blocks, buffer->data);
    else
        free(buffer->data);
    *buffer = (struct lw_buffer){0};
}
