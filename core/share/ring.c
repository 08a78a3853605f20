/* SPDX-License-Identifier: MIT
 *
 * Places count octets since the beginning and never go back.  A writer holds the lock,
 * moves `begin` past what it will overwrite, writes, and then moves `end`.  Readers hold
 * nothing: they copy, and look afterwards whether `begin` has passed them meanwhile. */
#include "share/ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "share/region.h"
#include "share/robust.h"

#define MASK    (LW_RING_OCTETS - 1)
#define WAIT_MS 20 /* for a writer that was stopped */

struct lw_ring {
    pthread_mutex_t lock;
    _Atomic uint64_t begin; /* of the oldest text that is whole */
    _Atomic uint64_t end;   /* behind the newest one */
    char octets[LW_RING_OCTETS];
};

/* In front of a text; all begin at multiples of its size. */
struct head {
    uint64_t sender;
    uint32_t topic_size;
    uint32_t size;
};

static void begin(void *memory, size_t size)
{
    (void)size;
    lw_robust_begin(&((struct lw_ring *)memory)->lock);
}

struct lw_ring *lw_ring_open(void)
{
    return lw_share_region_begun("bus.1", sizeof(struct lw_ring), begin);
}

static bool lock(struct lw_ring *ring)
{
    enum lw_robust_result result = lw_robust_take(&ring->lock, WAIT_MS);
    if (result == LW_ROBUST_INHERITED)
        lw_robust_repaired(&ring->lock); /* what it wrote lies behind `end`: nothing */
    return result != LW_ROBUST_BUSY;
}

static uint64_t size_of(const struct head *head)
{
    uint64_t size = sizeof *head + (uint64_t)head->topic_size + head->size;
    return (size + sizeof *head - 1) / sizeof *head * sizeof *head;
}

static void put(struct lw_ring *ring, uint64_t at, const void *from, size_t size)
{
    size_t first = LW_RING_OCTETS - (size_t)(at & MASK);
    if (first > size)
        first = size;
    memcpy(ring->octets + (at & MASK), from, first);
    memcpy(ring->octets, (const char *)from + first, size - first);
}

static void take(const struct lw_ring *ring, uint64_t at, void *to, size_t size)
{
    size_t first = LW_RING_OCTETS - (size_t)(at & MASK);
    if (first > size)
        first = size;
    memcpy(to, ring->octets + (at & MASK), first);
    memcpy((char *)to + first, ring->octets, size - first);
}

static bool is_sound(const struct head *head)
{
    return head->topic_size <= LW_RING_OCTETS / 4 && head->size <= LW_RING_OCTETS / 4;
}

/* Lets go of the oldest until there is room in front of `end`.  Heads are read under the
 * lock: only somebody with a fault of memory could have made one unsound. */
static void make_room(struct lw_ring *ring, uint64_t end)
{
    uint64_t begin = atomic_load(&ring->begin);
    while (end - begin > LW_RING_OCTETS) {
        struct head head;
        take(ring, begin, &head, sizeof head);
        begin = is_sound(&head) ? begin + size_of(&head) : end;
    }
    atomic_store(&ring->begin, begin);
    atomic_thread_fence(memory_order_release); /* what is written comes after it */
}

bool lw_ring_write(struct lw_ring *ring, const struct lw_ring_text *text)
{
    if (text->topic_size + text->size > LW_RING_OCTETS / 4 || !lock(ring))
        return false;
    const struct head head = {text->sender, (uint32_t)text->topic_size,
                              (uint32_t)text->size};
    uint64_t at = atomic_load(&ring->end);
    uint64_t end = at + size_of(&head);
    make_room(ring, end);
    put(ring, at, &head, sizeof head);
    put(ring, at + sizeof head, text->topic, text->topic_size);
    put(ring, at + sizeof head + text->topic_size, text->text, text->size);
    atomic_store(&ring->end, end);
    lw_robust_give(&ring->lock);
    return true;
}

uint64_t lw_ring_end(const struct lw_ring *ring)
{
    return atomic_load(&ring->end);
}

static void widen(struct lw_ring_room *room, size_t size)
{
    if (size <= room->size)
        return;
    free(room->data);
    room->data = lw_alloc(size);
    room->size = size;
}

/* The reader was passed. */
static enum lw_ring_result lose(const struct lw_ring *ring, uint64_t *at)
{
    *at = atomic_load(&ring->begin);
    return LW_RING_LOST;
}

enum lw_ring_result lw_ring_read(const struct lw_ring *ring, uint64_t *at,
                                 struct lw_ring_room *room, struct lw_ring_text *text)
{
    struct head head;
    if (*at == atomic_load(&ring->end))
        return LW_RING_NONE;
    take(ring, *at, &head, sizeof head);
    if (*at < atomic_load(&ring->begin) || !is_sound(&head))
        return lose(ring, at);
    size_t size = (size_t)head.topic_size + head.size;
    widen(room, size + 1);
    take(ring, *at + sizeof head, room->data, size);
    atomic_thread_fence(memory_order_acquire);
    if (*at < atomic_load(&ring->begin))
        return lose(ring, at);
    *at += size_of(&head);
    *text = (struct lw_ring_text){
        .sender = head.sender,
        .topic = room->data,
        .topic_size = head.topic_size,
        .text = room->data + head.topic_size,
        .size = head.size,
    };
    return LW_RING_TEXT;
}
