/* SPDX-License-Identifier: MIT
 *
 * The laws of a shard, held against what is there: for tests that kill writers. */
#include <stdlib.h>

#include "base/require.h"
#include "share/table_parts.h"

/* Which blocks have been met. */
struct seen {
    const struct lw_shard *shard;
    uint8_t *marks;
    uint32_t count;
};

/* Meets a chain of `count` blocks; gives its last, 0 where a law is broken. */
static uint32_t meet(struct seen *seen, uint32_t block, uint32_t count)
{
    uint32_t last = 0;
    for (; count > 0; count--) {
        if (block == 0 || block > seen->shard->head->fresh || seen->marks[block])
            return 0;
        seen->marks[block] = 1;
        seen->count++;
        last = block;
        block = seen->shard->blocks[block].next;
    }
    return block == 0 ? last : 0;
}

static const char *check_item(struct seen *seen, uint32_t number)
{
    const struct lw_shard *shard = seen->shard;
    uint32_t first = shard->entries[number].block;
    const struct lw_item *item = lw_shard_item(shard, first);
    if (item->entry != number)
        return "an item's entry is another's";
    if (item->block_count
        != lw_shard_blocks_for((size_t)item->key_size + item->text_size))
        return "an item has too many blocks, or too few";
    if (meet(seen, first, item->block_count) != item->tail)
        return "an item's chain is broken";
    uint32_t at = shard->buckets[item->hash & shard->bucket_mask];
    for (uint32_t i = 0; at && at != first && i < shard->block_count; i++)
        at = lw_shard_item(shard, at)->bucket_next;
    return at == first ? NULL : "an item is not in its bucket";
}

static uint32_t count_in_buckets(const struct lw_shard *shard)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i <= shard->bucket_mask; i++) {
        uint32_t at = shard->buckets[i];
        for (; at && count <= shard->block_count; count++)
            at = lw_shard_item(shard, at)->bucket_next;
    }
    return count;
}

static const char *check_all(struct seen *seen)
{
    const struct lw_shard_head *head = seen->shard->head;
    if (head->undo_count != 0)
        return "a change is half done";
    if (head->fresh > seen->shard->block_count || head->entry_count > head->fresh)
        return "more than there is room for";
    if (head->free_count > 0 && !meet(seen, head->free_first, head->free_count))
        return "the chain of free blocks is broken";
    if (head->free_count == 0 && head->free_first != 0)
        return "a free block is not counted";
    for (uint32_t i = 0; i < head->entry_count; i++) {
        const char *wrong = check_item(seen, i);
        if (wrong)
            return wrong;
    }
    if (seen->count != head->fresh)
        return "a block is lost";
    if (count_in_buckets(seen->shard) != head->entry_count)
        return "a bucket has what is no item";
    return NULL;
}

const char *lw_shard_check(const struct lw_shard *shard)
{
    struct seen seen = {.shard = shard, .marks = lw_alloc(shard->block_count + 1UL)};
    for (uint32_t i = 0; i <= shard->block_count; i++)
        seen.marks[i] = 0;
    const char *wrong = check_all(&seen);
    free(seen.marks);
    return wrong;
}

const char *lw_table_check(struct lw_table *table)
{
    const char *wrong = NULL;
    for (uint32_t i = 0; i < table->shard_count && !wrong; i++) {
        if (!lw_shard_enter(&table->shards[i]))
            return "busy";
        wrong = lw_shard_check(&table->shards[i]);
        lw_shard_leave(&table->shards[i]);
    }
    return wrong;
}
