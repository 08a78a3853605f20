/* SPDX-License-Identifier: MIT
 *
 * A ring of texts in shared memory that all processes write to and read from: what the
 * bus sends beyond one worker.  Each reader has its own place; one that lags by more than
 * the ring holds loses the oldest, which it learns.  A writer that dies in the middle of
 * a text leaves nothing of it. */
#ifndef LW_SHARE_RING_H
#define LW_SHARE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LW_RING_OCTETS (8U << 20)

struct lw_ring;

/* What stands in the ring. */
struct lw_ring_text {
    uint64_t sender; /* as lw_ring_write was told */
    const char *topic;
    size_t topic_size;
    const char *text;
    size_t size;
};

/* The ring, in the region "bus.1"; NULL: no room. */
struct lw_ring *lw_ring_open(void);

/* Adds a text, which is copied: topic and text together at most a quarter of
 * LW_RING_OCTETS.  false: it is too long, or another process was stopped while it wrote,
 * and did not go on within 20 ms. */
bool lw_ring_write(struct lw_ring *ring, const struct lw_ring_text *text);

/* Where a reader begins that wants what is written from now on. */
uint64_t lw_ring_end(const struct lw_ring *ring);

enum lw_ring_result {
    LW_RING_NONE, /* nothing is there that was not read */
    LW_RING_TEXT,
    LW_RING_LOST /* some were overwritten: the reader is at the oldest one now */
};

/* Reads what stands at *at and moves that on.  `room` is the reader's own buffer for
 * copies (see lw_ring_room); the text points into it. */
struct lw_ring_room {
    char *data; /* owned by the reader: free() at its end; NULL at first */
    size_t size;
};
enum lw_ring_result lw_ring_read(const struct lw_ring *ring, uint64_t *at,
                                 struct lw_ring_room *room, struct lw_ring_text *text);

#endif
