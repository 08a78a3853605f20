/* SPDX-License-Identifier: MIT
 *
 * A shard's lock and undo log, its index, and the changes: store and remove. */
#include "share/shard.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/abi_shared.h"
#include "base/require.h"
#include "share/robust.h"

enum {
    HEAD_ROOM = 1024 /* octets before the buckets */
};

static_assert(sizeof(struct lw_shard_head) <= HEAD_ROOM, "the head has room");

void lw_shard_attach(struct lw_shard *shard, void *memory, size_t size)
{
    const size_t each = LW_BLOCK_SIZE + sizeof(struct lw_entry) + sizeof(uint32_t);
    lw_require(size >= 16384);
    uint32_t count = (uint32_t)((size - HEAD_ROOM - LW_BLOCK_SIZE) / each);
    uint32_t buckets = 1;
    while (buckets <= count / 2)
        buckets *= 2;
    char *at = (char *)memory + HEAD_ROOM;
    *shard = (struct lw_shard){
        .head = memory, .bucket_mask = buckets - 1, .block_count = count};
    shard->blocks = (struct lw_block *)at; /* blocks[0] is nobody's */
    at += (size_t)(count + 1) * LW_BLOCK_SIZE;
    shard->entries = (struct lw_entry *)at;
    shard->buckets = (uint32_t *)(at + (size_t)count * sizeof(struct lw_entry));
}

void lw_shard_begin(struct lw_shard *shard)
{
    lw_robust_begin(&shard->head->lock);
}

/* The compiler must not move a store over this; the processor's order is no matter,
 * since what a process has stored is all there when others learn that it is dead. */
static void in_order(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void note(struct lw_shard *shard, void *word, uint32_t size, uint64_t old)
{
    struct lw_shard_head *head = shard->head;
    lw_require(head->undo_count < LW_UNDO_ROOM);
    head->undo[head->undo_count] = (struct lw_undo){
        .offset = (uint32_t)((char *)word - (char *)head),
        .size = size,
        .old = old,
    };
    in_order();
    __atomic_store_n(&head->undo_count, head->undo_count + 1, __ATOMIC_RELAXED);
    in_order();
}

void lw_shard_put32(struct lw_shard *shard, uint32_t *word, uint32_t value)
{
    note(shard, word, sizeof *word, *word);
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

void lw_shard_put64(struct lw_shard *shard, uint64_t *word, uint64_t value)
{
    note(shard, word, sizeof *word, *word);
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

void lw_shard_commit(struct lw_shard *shard)
{
    in_order();
    __atomic_store_n(&shard->head->undo_count, 0, __ATOMIC_RELAXED);
    in_order();
}

/* Everything but the lock and what was counted.  The log is unreadable meanwhile, so
 * that whoever comes after a death in here begins again. */
void lw_shard_empty(struct lw_shard *shard)
{
    struct lw_shard_head *head = shard->head;
    __atomic_store_n(&head->undo_count, UINT32_MAX, __ATOMIC_RELAXED);
    in_order();
    memset(shard->buckets, 0, ((size_t)shard->bucket_mask + 1) * sizeof(uint32_t));
    head->free_first = head->free_count = head->fresh = 0;
    head->entry_count = head->hand = 0;
    head->resets++;
    lw_shard_commit(shard);
}

void lw_shard_release(struct lw_shard *shard)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)shard->blocks + page - 1) / page * page;
    uintptr_t to = (uintptr_t)&shard->buckets[shard->bucket_mask + 1] / page * page;
    lw_shard_empty(shard);
    if (from < to)
        madvise((void *)from, to - from, MADV_REMOVE);
}

static bool put_back(struct lw_shard *shard, const struct lw_undo *undo)
{
    const char *end = (const char *)&shard->buckets[shard->bucket_mask + 1];
    char *word = (char *)shard->head + undo->offset;
    if (undo->size != 4 && undo->size != 8)
        return false;
    if (undo->offset % undo->size != 0 || word + undo->size > end)
        return false;
    if (undo->size == 4)
        *(uint32_t *)word = (uint32_t)undo->old;
    else
        *(uint64_t *)word = undo->old;
    return true;
}

/* Undoes half a change, from the last word to the first.  When we die in here too, the
 * next one does all of it again. */
static void repair(struct lw_shard *shard)
{
    struct lw_shard_head *head = shard->head;
    uint32_t count = head->undo_count;
    bool is_sound = count <= LW_UNDO_ROOM;
    while (is_sound && count > 0)
        is_sound = put_back(shard, &head->undo[--count]);
    if (!is_sound)
        lw_shard_empty(shard);
    head->repairs++;
    lw_shard_commit(shard);
}

bool lw_shard_enter(struct lw_shard *shard)
{
    unsigned wait_ms = shard->is_doubtful ? 0 : LUAWEB_SHARED_WAIT_MS;
    enum lw_robust_result result = lw_robust_take(&shard->head->lock, wait_ms);
    shard->is_doubtful = result == LW_ROBUST_BUSY;
    if (result == LW_ROBUST_INHERITED) {
        repair(shard);
        lw_robust_repaired(&shard->head->lock);
    }
    return !shard->is_doubtful;
}

void lw_shard_leave(struct lw_shard *shard)
{
    lw_robust_give(&shard->head->lock);
}

struct lw_item_place lw_shard_find(struct lw_shard *shard, uint32_t hash,
                                   struct luaweb_slice key)
{
    uint32_t *link = &shard->buckets[hash & shard->bucket_mask];
    for (uint32_t i = 0; *link && i < shard->block_count; i++) {
        struct lw_item *item = lw_shard_item(shard, *link);
        if (item->hash == hash && item->key_size == key.size
            && lw_shard_same(shard, item, 0, key))
            return (struct lw_item_place){.link = link, .item = item};
        link = &item->bucket_next;
    }
    return (struct lw_item_place){.link = link};
}

uint32_t lw_shard_blocks_for(size_t octets)
{
    if (octets <= LW_FIRST_ROOM)
        return 1;
    return 1 + (uint32_t)((octets - LW_FIRST_ROOM + LW_NEXT_ROOM - 1) / LW_NEXT_ROOM);
}

/* Gives the chain of an item back. */
static void give_back(struct lw_shard *shard, const struct lw_item *item,
                      uint32_t first)
{
    struct lw_shard_head *head = shard->head;
    struct lw_item *tail = lw_shard_item(shard, item->tail);
    lw_shard_put32(shard, &tail->next, head->free_first);
    lw_shard_put32(shard, &head->free_first, first);
    lw_shard_put32(shard, &head->free_count, head->free_count + item->block_count);
}

/* Writes an item into the first free blocks, which are still free: no change yet. */
static struct lw_item *write_item(struct lw_shard *shard, struct lw_item_place place,
                                  const struct lw_draft *draft)
{
    struct lw_shard_head *head = shard->head;
    struct lw_item *item = lw_shard_item(shard, head->free_first);
    size_t octets = draft->key.size + draft->text.size;
    item->tail = lw_shard_fill(shard, head->free_first, draft);
    item->block_count = lw_shard_blocks_for(octets);
    item->bucket_next = place.item ? place.item->bucket_next : 0;
    item->hash = draft->hash;
    item->entry = place.item ? place.item->entry : head->entry_count;
    item->text_size = (uint32_t)draft->text.size;
    item->key_size = (uint16_t)draft->key.size;
    item->kind = draft->kind;
    item->bits = draft->bits;
    return item;
}

void lw_shard_store(struct lw_shard *shard, struct lw_item_place place,
                    const struct lw_draft *draft, uint64_t now_us)
{
    struct lw_shard_head *head = shard->head;
    const uint32_t first = head->free_first;
    lw_require(lw_shard_blocks_for(draft->key.size + draft->text.size)
               <= head->free_count);
    struct lw_item *item = write_item(shard, place, draft);
    struct lw_entry *entry = lw_shard_entry(shard, item->entry);
    struct lw_item *tail = lw_shard_item(shard, item->tail);
    uint32_t replaced = *place.link;

    lw_shard_put32(shard, &head->free_count, head->free_count - item->block_count);
    lw_shard_put32(shard, &head->free_first, tail->next);
    lw_shard_put32(shard, &tail->next, 0);
    lw_shard_put32(shard, place.link, first);
    lw_shard_put32(shard, &entry->block, first);
    lw_shard_put64(shard, &entry->expires_us, draft->expires_us);
    if (place.item)
        give_back(shard, place.item, replaced);
    else
        lw_shard_put32(shard, &head->entry_count, head->entry_count + 1);
    entry->touched = lw_shard_tick(now_us);
    lw_shard_commit(shard);
}

void lw_shard_remove(struct lw_shard *shard, struct lw_item_place place)
{
    struct lw_shard_head *head = shard->head;
    const uint32_t first = *place.link;
    const uint32_t last = head->entry_count - 1;
    struct lw_entry *entry = lw_shard_entry(shard, place.item->entry);
    struct lw_entry *moved = lw_shard_entry(shard, last);

    lw_shard_put32(shard, place.link, place.item->bucket_next);
    if (entry != moved) {
        struct lw_item *other = lw_shard_item(shard, moved->block);
        lw_shard_put32(shard, &other->entry, place.item->entry);
        lw_shard_put32(shard, &entry->block, moved->block);
        lw_shard_put32(shard, &entry->touched, moved->touched);
        lw_shard_put64(shard, &entry->expires_us, moved->expires_us);
    }
    lw_shard_put32(shard, &head->entry_count, last);
    give_back(shard, place.item, first);
    lw_shard_commit(shard);
}
