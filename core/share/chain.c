/* SPDX-License-Identifier: MIT
 *
 * The octets of items: a key and a text, one behind the other, over chains of blocks.
 * What says how long a chain is may be wrong where memory is; no chain is followed for
 * longer than the sizes in an item allow. */
#include "share/shard.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct lw_item) == LW_BLOCK_SIZE, "an item begins with a block");
static_assert(sizeof(struct lw_block) == LW_BLOCK_SIZE, "a block is one");

/* A run of octets within one block. */
struct run {
    const struct lw_shard *shard;
    uint8_t *at;
    size_t left;
    uint32_t next;
};

static void step(struct run *run)
{
    struct lw_block *block = (struct lw_block *)lw_shard_item(run->shard, run->next);
    run->at = block->octets;
    run->left = LW_NEXT_ROOM;
    run->next = block->next;
}

static struct run run_from(const struct lw_shard *shard, const struct lw_item *item,
                           size_t from)
{
    struct run run = {.shard = shard,
                      .at = (uint8_t *)item->octets,
                      .left = LW_FIRST_ROOM,
                      .next = item->next};
    while (from >= run.left) {
        from -= run.left;
        step(&run);
    }
    run.at += from;
    run.left -= from;
    return run;
}

/* How much of `size` octets lies in this block, of which there is at least one. */
static size_t part(struct run *run, size_t size)
{
    if (run->left == 0)
        step(run);
    return size < run->left ? size : run->left;
}

static void pass(struct run *run, size_t size)
{
    run->at += size;
    run->left -= size;
}

void lw_shard_copy(const struct lw_shard *shard, const struct lw_item *item,
                   size_t from, size_t size, char *into)
{
    struct run run = run_from(shard, item, from);
    while (size > 0) {
        size_t some = part(&run, size);
        memcpy(into, run.at, some);
        pass(&run, some);
        into += some;
        size -= some;
    }
}

bool lw_shard_same(const struct lw_shard *shard, const struct lw_item *item,
                   size_t from, struct luaweb_slice slice)
{
    struct run run = run_from(shard, item, from);
    while (slice.size > 0) {
        size_t some = part(&run, slice.size);
        if (memcmp(slice.data, run.at, some) != 0)
            return false;
        pass(&run, some);
        slice.data += some;
        slice.size -= some;
    }
    return true;
}

static void append(struct run *run, uint32_t *last, struct luaweb_slice slice)
{
    while (slice.size > 0) {
        if (run->left == 0) {
            *last = run->next;
            step(run);
        }
        size_t some = part(run, slice.size);
        memcpy(run->at, slice.data, some);
        pass(run, some);
        slice.data += some;
        slice.size -= some;
    }
}

uint32_t lw_shard_fill(struct lw_shard *shard, uint32_t first,
                       const struct lw_draft *draft)
{
    uint32_t last = first;
    struct run run = run_from(shard, lw_shard_item(shard, first), 0);
    append(&run, &last, draft->key);
    append(&run, &last, draft->text);
    return last;
}
