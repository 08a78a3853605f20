/* SPDX-License-Identifier: MIT
 *
 * A queue of octets: appended at the end, consumed at the start.  The usual size comes
 * from a pool of equal blocks, so that a connection at rest holds no memory and a busy
 * one allocates nothing. */
#ifndef LW_BASE_BUFFER_H
#define LW_BASE_BUFFER_H

#include <stddef.h>

#define LW_BLOCK 16384

/* Blocks at rest, at most `limit` of them; all owned by the pool. */
struct lw_blocks {
    struct lw_blocks_node *free;
    size_t count;
    size_t limit;
};

void lw_blocks_construct(struct lw_blocks *blocks, size_t limit);
void lw_blocks_destruct(struct lw_blocks *blocks);

/* Zeroed, it is an empty buffer.  data[start .. end) is what waits to be consumed. */
struct lw_buffer {
    char *data; /* owned until lw_buffer_release */
    size_t start;
    size_t end;
    size_t capacity;
};

size_t lw_buffer_size(const struct lw_buffer *buffer);

/* Makes sure that `room` octets fit behind the end; moves or reallocates what is there,
 * so that all pointers into the buffer end. */
void lw_buffer_reserve(struct lw_buffer *buffer, struct lw_blocks *blocks, size_t room);

/* Copies `size` octets to the end. */
void lw_buffer_append(struct lw_buffer *buffer, struct lw_blocks *blocks,
                      const void *data, size_t size);

/* Drops `size` octets from the start; the memory stays as it is. */
void lw_buffer_consume(struct lw_buffer *buffer, size_t size);

/* Gives the memory back; the buffer is empty. */
void lw_buffer_release(struct lw_buffer *buffer, struct lw_blocks *blocks);

#endif
