/* SPDX-License-Identifier: MIT
 *
 * A shared table as a whole: its keys, a part at a time, its numbers, its end. */
#include "base/abi_shared.h"
#include "share/table_parts.h"

enum {
    LOOKED_AT = 256 /* entries, while others wait */
};

/* Appends the key of an item that is listed.  false: no room for a key any more. */
static bool list_entry(const struct lw_shard *shard, const struct lw_entry *entry,
                       struct lw_listing *listing)
{
    const struct lw_item *item = lw_shard_item(shard, entry->block);
    if (listing->room - listing->size < LUAWEB_SHARED_KEY_ROOM)
        return false;
    if (entry->expires_us && entry->expires_us <= listing->now_us)
        return true;
    if (item->key_size < listing->prefix.size || item->key_size > LUAWEB_SHARED_MAX_KEY
        || !lw_shard_same(shard, item, 0, listing->prefix))
        return true;
    char *at = listing->into + listing->size;
    at[0] = (char)(item->key_size >> 8);
    at[1] = (char)(item->key_size & 255);
    lw_shard_copy(shard, item, 0, item->key_size, at + 2);
    listing->size += 2 + (size_t)item->key_size;
    return true;
}

/* Entries are looked at from the last to the first: when one is removed, the last one
 * takes its place, so none moves to where it would not be seen. */
static uint32_t list_shard(const struct lw_shard *shard, uint32_t left,
                           struct lw_listing *listing)
{
    uint32_t count = shard->head->entry_count;
    if (left == 0 || left > count)
        left = count;
    for (uint32_t i = 0; i < LOOKED_AT && left > 0; i++) {
        if (!list_entry(shard, lw_shard_entry(shard, left - 1), listing))
            break;
        left--;
    }
    return left;
}

int lw_table_keys(struct lw_table *table, struct lw_listing *listing)
{
    uint32_t number = (uint32_t)(listing->cursor >> 32) % table->shard_count;
    struct lw_shard *shard = &table->shards[number];
    listing->size = 0;
    if (!lw_shard_enter(shard)) {
        atomic_fetch_add(&table->front->busy, 1);
        return LUAWEB_SHARED_BUSY;
    }
    uint32_t left = list_shard(shard, (uint32_t)listing->cursor, listing);
    lw_shard_leave(shard);
    if (left == 0)
        number = (number + 1) % table->shard_count;
    listing->cursor = number * ((uint64_t)1 << 32) + left;
    return LUAWEB_SHARED_DONE;
}

void lw_table_stats(const struct lw_table *table, struct lw_table_stats *stats)
{
    *stats = (struct lw_table_stats){.size = table->size, .busy = table->front->busy};
    stats->max_value = lw_table_max_item(table) - LUAWEB_SHARED_MAX_KEY;
    for (uint32_t i = 0; i < table->shard_count; i++) {
        const struct lw_shard *shard = &table->shards[i];
        const struct lw_shard_head *head = shard->head;
        uint32_t used = head->fresh - head->free_count;
        stats->capacity += (uint64_t)shard->block_count * LW_BLOCK_SIZE;
        stats->used += (uint64_t)used * LW_BLOCK_SIZE;
        stats->count += head->entry_count;
        stats->hits += head->hits;
        stats->misses += head->misses;
        stats->writes += head->writes;
        stats->evictions += head->evictions;
        stats->expired += head->expired;
        stats->repairs += head->repairs;
        stats->resets += head->resets;
    }
}

void lw_table_release(struct lw_table *table)
{
    for (uint32_t i = 0; i < table->shard_count; i++) {
        if (!lw_shard_enter(&table->shards[i]))
            continue;
        lw_shard_release(&table->shards[i]);
        lw_shard_leave(&table->shards[i]);
    }
}
