/* SPDX-License-Identifier: MIT
 *
 * A shard: one part of a shared table, with a lock, a hash index, and blocks of one
 * size that hold the items.  An item is a chain of blocks: any free block will do, so
 * there is always room while there are blocks, whatever the sizes of what came and
 * went.
 *
 * A process may die at any instruction in here.  So a change of what is shared is
 * written through lw_shard_put*, which note the old word first (an undo log of a few
 * words); who takes the lock next puts back what was half done.  Free blocks mean
 * nothing: they are filled before the change begins.  All words are zero where nothing
 * has been, and 0 is no block: a shard of zeroes is an empty one. */
#ifndef LW_SHARE_SHARD_H
#define LW_SHARE_SHARD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

enum {
    LW_BLOCK_SIZE = 128,
    LW_FIRST_ROOM = 88, /* octets in the first block of an item */
    LW_NEXT_ROOM = 124, /* in the others */
    LW_UNDO_ROOM = 24   /* words that one change may touch */
};

/* The first block of an item; what follows the chain has `next` and octets only. */
struct lw_item {
    uint32_t next;
    uint32_t tail; /* last block of the chain */
    uint32_t block_count;
    uint32_t bucket_next; /* first block of the next item of the bucket */
    uint32_t hash;
    uint32_t entry; /* its place among the entries */
    uint32_t text_size;
    uint16_t key_size;
    uint16_t kind; /* enum luaweb_shared_kind */
    uint64_t bits; /* a number */
    uint8_t octets[LW_FIRST_ROOM];
};

struct lw_block {
    uint32_t next;
    uint8_t octets[LW_NEXT_ROOM];
};

/* What is looked at of items that might have to go, side by side. */
struct lw_entry {
    uint32_t block;
    uint32_t touched;    /* lw_shard_tick of the last use */
    uint64_t expires_us; /* CLOCK_MONOTONIC; 0: never */
};

struct lw_undo {
    uint32_t offset; /* of the word, from the shard's head */
    uint32_t size;   /* 4 or 8 */
    uint64_t old;
};

struct lw_shard_head {
    pthread_mutex_t lock;
    uint32_t undo_count; /* words of the change that is being made */
    uint32_t free_first;
    uint32_t free_count; /* blocks in the chain of free ones */
    uint32_t fresh;      /* blocks that have ever been used, from the first */
    uint32_t entry_count;
    uint32_t hand; /* the entry to look at next */
    /* These may miss one when a process dies. */
    uint64_t hits;
    uint64_t misses;
    uint64_t writes;
    uint64_t evictions;
    uint64_t expired;
    uint64_t repairs;
    uint64_t resets;
    struct lw_undo undo[LW_UNDO_ROOM];
};

/* Where the parts of a shard lie in this process.  Sizes are ours, not the shared
 * memory's: what is read there is checked against them. */
struct lw_shard {
    struct lw_shard_head *head;
    uint32_t *buckets;
    struct lw_entry *entries;
    struct lw_block *blocks; /* from 1 */
    uint32_t bucket_mask;
    uint32_t block_count;
    bool is_doubtful; /* it was held for too long: no waiting until it was free again */
};

/* Where an item is: `link` has its first block's number. */
struct lw_item_place {
    uint32_t *link;
    struct lw_item *item; /* NULL: absent, `link` is where it would be */
};

/* Lays a shard over `size` octets, at least 16 KiB. */
void lw_shard_attach(struct lw_shard *shard, void *memory, size_t size);

/* Makes the lock of a shard that is new (zeroes). */
void lw_shard_begin(struct lw_shard *shard);

/* Takes the lock, and undoes what somebody who died had half done.  false: busy. */
bool lw_shard_enter(struct lw_shard *shard);
void lw_shard_leave(struct lw_shard *shard);

/* Forgets all items: for a shard that makes no sense.  Counted as a reset. */
void lw_shard_empty(struct lw_shard *shard);

/* The same, and gives its memory back to the system, where that is a file in memory. */
void lw_shard_release(struct lw_shard *shard);

/* Finds a key, also of an item whose time is over. */
struct lw_item_place lw_shard_find(struct lw_shard *shard, uint32_t hash,
                                   struct luaweb_slice key);

static inline struct lw_item *lw_shard_item(const struct lw_shard *shard,
                                            uint32_t block)
{
    return (struct lw_item *)&shard->blocks[block <= shard->block_count ? block : 0];
}

static inline struct lw_entry *lw_shard_entry(const struct lw_shard *shard,
                                              uint32_t entry)
{
    return &shard->entries[entry < shard->block_count ? entry : 0];
}

static inline uint32_t lw_shard_tick(uint64_t now_us)
{
    return (uint32_t)(now_us >> 14);
}

/* A change: put words, then commit.  Before the commit it is undone when we die. */
void lw_shard_put32(struct lw_shard *shard, uint32_t *word, uint32_t value);
void lw_shard_put64(struct lw_shard *shard, uint64_t *word, uint64_t value);
void lw_shard_commit(struct lw_shard *shard);

/* An item to be: what goes into blocks. */
struct lw_draft {
    struct luaweb_slice key;
    struct luaweb_slice text;
    uint64_t bits;
    uint64_t expires_us;
    uint32_t hash;
    uint16_t kind;
};

/* How many blocks an item takes. */
uint32_t lw_shard_blocks_for(size_t octets);

/* Puts an item where `place` says, instead of the one there, in one change.  There must
 * be free blocks for it: lw_shard_make_room. */
void lw_shard_store(struct lw_shard *shard, struct lw_item_place place,
                    const struct lw_draft *draft, uint64_t now_us);

/* Removes what is at `place`, in one change. */
void lw_shard_remove(struct lw_shard *shard, struct lw_item_place place);

/* Sees to so many free blocks, at most a quarter of all: takes fresh ones, then those
 * of expired items, then those used longest ago, all among the next ones in turn.
 * Places found before are no longer valid. */
void lw_shard_make_room(struct lw_shard *shard, uint32_t blocks, uint64_t now_us);

/* Removes what has expired among the next few. */
void lw_shard_sweep(struct lw_shard *shard, uint64_t now_us);

/* Copies octets [from, from + size) of an item's key and text into `into`. */
void lw_shard_copy(const struct lw_shard *shard, const struct lw_item *item,
                   size_t from, size_t size, char *into);

/* Whether the octets from `from` are those of `slice`. */
bool lw_shard_same(const struct lw_shard *shard, const struct lw_item *item,
                   size_t from, struct luaweb_slice slice);

/* Fills free blocks from `first` on with key and text; gives the last one used. */
uint32_t lw_shard_fill(struct lw_shard *shard, uint32_t first,
                       const struct lw_draft *draft);

/* NULL, or what is wrong with the shard: every block, entry and chain is looked at, so
 * this is slow, and nobody may be inside. */
const char *lw_shard_check(const struct lw_shard *shard);

#endif
