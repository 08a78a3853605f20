/* SPDX-License-Identifier: MIT
 *
 * Room in a shard.  A hand goes round the entries, which lie side by side: what it
 * finds expired goes first, else the one of the next few that was used longest ago.
 * Where a shard has no more items than the hand looks at, that is exact. */
#include "share/shard.h"

#include "base/require.h"

enum {
    WINDOW = 128,     /* entries looked at for one block or a few */
    WINDOW_MANY = 16, /* for each of many */
    MANY = 64,        /* blocks */
    SWEPT = 8,        /* entries looked at on the way */
    GROWTH = 32       /* fresh blocks at a time */
};

static bool is_expired(const struct lw_entry *entry, uint64_t now_us)
{
    return entry->expires_us && entry->expires_us <= now_us;
}

/* The entry that the hand is at; it goes on by one. */
static uint32_t next_entry(struct lw_shard_head *head)
{
    if (head->hand >= head->entry_count)
        head->hand = 0;
    return head->hand++;
}

static void remove_entry(struct lw_shard *shard, uint32_t number)
{
    uint32_t block = lw_shard_entry(shard, number)->block;
    struct lw_item *item = lw_shard_item(shard, block);
    uint32_t *link = &shard->buckets[item->hash & shard->bucket_mask];
    for (uint32_t i = 0; *link && *link != block && i < shard->block_count; i++)
        link = &lw_shard_item(shard, *link)->bucket_next;
    if (*link == block && block)
        lw_shard_remove(shard, (struct lw_item_place){.link = link, .item = item});
    else
        lw_shard_empty(shard); /* an entry without an item: it makes no sense */
}

/* Removes what has expired among the next `count` entries, until there are as many free
 * blocks as wanted.  If nothing has, tells the one used longest ago. */
static bool remove_expired(struct lw_shard *shard, uint32_t count, uint32_t wanted,
                           uint64_t now_us, uint32_t *oldest)
{
    struct lw_shard_head *head = shard->head;
    const uint32_t tick = lw_shard_tick(now_us);
    bool is_any = false;
    uint32_t oldest_age = 0;
    *oldest = head->hand < head->entry_count ? head->hand : 0;
    for (; count > 0 && head->entry_count > 0 && head->free_count < wanted; count--) {
        uint32_t number = next_entry(head);
        const struct lw_entry *entry = lw_shard_entry(shard, number);
        uint32_t age = tick - entry->touched;
        if (is_expired(entry, now_us)) {
            remove_entry(shard, number);
            head->hand = number; /* another one has come there */
            head->expired++;
            is_any = true;
        } else if (age > oldest_age) {
            oldest_age = age;
            *oldest = number;
        }
    }
    return is_any;
}

void lw_shard_sweep(struct lw_shard *shard, uint64_t now_us)
{
    uint32_t oldest;
    remove_expired(shard, SWEPT, UINT32_MAX, now_us, &oldest);
}

/* Chains fresh blocks into the free ones. */
static void take_fresh(struct lw_shard *shard, uint32_t wanted)
{
    struct lw_shard_head *head = shard->head;
    uint32_t left = shard->block_count - head->fresh;
    uint32_t count = wanted < left ? wanted : left;
    uint32_t first = head->fresh + 1;
    for (uint32_t i = 0; i + 1 < count; i++)
        shard->blocks[first + i].next = first + i + 1;
    shard->blocks[first + count - 1].next = head->free_first;
    lw_shard_put32(shard, &head->fresh, head->fresh + count);
    lw_shard_put32(shard, &head->free_first, first);
    lw_shard_put32(shard, &head->free_count, head->free_count + count);
    lw_shard_commit(shard);
}

static void evict(struct lw_shard *shard, uint32_t blocks, uint64_t now_us)
{
    struct lw_shard_head *head = shard->head;
    uint32_t window = blocks - head->free_count > MANY ? WINDOW_MANY : WINDOW;
    if (window > head->entry_count)
        window = head->entry_count;
    uint32_t oldest;
    if (remove_expired(shard, window, blocks, now_us, &oldest))
        return;
    head->evictions++;
    remove_entry(shard, oldest);
}

void lw_shard_make_room(struct lw_shard *shard, uint32_t blocks, uint64_t now_us)
{
    struct lw_shard_head *head = shard->head;
    lw_require(blocks <= shard->block_count / 4);
    while (head->free_count < blocks) {
        if (head->fresh < shard->block_count)
            take_fresh(shard, blocks - head->free_count + GROWTH);
        else
            evict(shard, blocks, now_us);
    }
}
