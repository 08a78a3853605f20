/* SPDX-License-Identifier: MIT
 *
 * The operations of a shared table.  Each finds the shard of its key, is alone in there
 * for about as long as a small copy takes, and leaves it whole. */
#include "share/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/require.h"
#include "base/siphash.h"
#include "share/table_parts.h"

enum {
    FRONT = 4096,          /* octets before the first shard */
    SHARD_LEAST = 2 << 20, /* octets of a shard, where there are several */
    MAX_VALUE = 1 << 20
};

static void lay_out(struct lw_table *table, void *memory, uint64_t size)
{
    lw_require(size >= LUAWEB_SHARED_MIN_SIZE && size <= LUAWEB_SHARED_MAX_SIZE);
    uint64_t count = size / SHARD_LEAST;
    count = count < 1 ? 1 : count > LW_TABLE_SHARDS ? LW_TABLE_SHARDS : count;
    uint64_t each = (size - FRONT) / count / 64 * 64;
    table->front = memory;
    table->size = size;
    table->shard_count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++)
        lw_shard_attach(&table->shards[i], (char *)memory + FRONT + i * each, each);
}

void lw_table_begin(void *memory, size_t size)
{
    struct lw_table table = {0};
    lay_out(&table, memory, size);
    ssize_t got = getrandom(table.front->key, sizeof table.front->key, 0);
    lw_require(got == (ssize_t)sizeof table.front->key);
    for (uint32_t i = 0; i < table.shard_count; i++)
        lw_shard_begin(&table.shards[i]);
}

struct lw_table *lw_table_attach(void *memory, uint64_t size)
{
    struct lw_table *table = lw_alloc(sizeof *table);
    *table = (struct lw_table){0};
    lay_out(table, memory, size);
    return table;
}

void lw_table_detach(struct lw_table *table)
{
    free(table->text);
    free(table);
}

/* Where an operation is at work. */
struct at {
    struct lw_shard *shard;
    uint32_t hash;
    struct lw_item_place place;
    struct lw_entry *entry; /* NULL: there is nothing, or its time is over */
};

static void find(struct at *at, struct luaweb_slice key, uint64_t now_us)
{
    at->place = lw_shard_find(at->shard, at->hash, key);
    at->entry = NULL;
    if (!at->place.item)
        return;
    struct lw_entry *entry = lw_shard_entry(at->shard, at->place.item->entry);
    if (entry->expires_us && entry->expires_us <= now_us)
        return;
    uint32_t tick = lw_shard_tick(now_us);
    if (entry->touched != tick)
        entry->touched = tick;
    at->entry = entry;
}

/* Enters the shard of a key and finds it.  false: busy. */
static bool enter(struct lw_table *table, struct luaweb_slice key, uint64_t now_us,
                  struct at *at)
{
    uint64_t hash = lw_siphash(table->front->key, key.data, key.size);
    at->hash = (uint32_t)hash;
    at->shard = &table->shards[(hash >> 32) % table->shard_count];
    if (!lw_shard_enter(at->shard)) {
        atomic_fetch_add(&table->front->busy, 1);
        return false;
    }
    find(at, key, now_us);
    return true;
}

static double number_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static char *text_room(struct lw_table *table, size_t size)
{
    if (table->text_room < size) {
        size_t room = size < 1024 ? 1024 : size;
        free(table->text);
        table->text = lw_alloc(room);
        table->text_room = room;
    }
    return table->text;
}

static int read_value(struct lw_table *table, const struct at *at,
                      struct luaweb_shared_value *value)
{
    const struct lw_item *item = at->place.item;
    value->kind = item->kind;
    value->number = number_of(item->bits);
    value->text = lw_slice(NULL, 0);
    if (item->kind != LUAWEB_SHARED_TEXT)
        return LUAWEB_SHARED_DONE;
    size_t size = item->text_size;
    if (item->key_size + size > lw_table_max_item(table))
        return LUAWEB_SHARED_ABSENT; /* memory that somebody has written over */
    value->text = lw_slice(text_room(table, size), size);
    lw_shard_copy(at->shard, item, item->key_size, size, table->text);
    return LUAWEB_SHARED_DONE;
}

int lw_table_get(struct lw_table *table, struct luaweb_slice key, uint64_t now_us,
                 struct luaweb_shared_value *value)
{
    struct at at;
    int result = LUAWEB_SHARED_ABSENT;
    if (!enter(table, key, now_us, &at))
        return LUAWEB_SHARED_BUSY;
    if (at.entry)
        result = read_value(table, &at, value);
    if (result == LUAWEB_SHARED_DONE)
        at.shard->head->hits++;
    else
        at.shard->head->misses++;
    lw_shard_leave(at.shard);
    return result;
}

/* Puts a number where one of the same kind is: two words. */
static void overwrite(const struct at *at, uint64_t bits, uint64_t expires_us)
{
    if (at->entry->expires_us != expires_us)
        lw_shard_put64(at->shard, &at->entry->expires_us, expires_us);
    lw_shard_put64(at->shard, &at->place.item->bits, bits);
    lw_shard_commit(at->shard);
}

static int store(struct lw_table *table, struct at *at, const struct lw_write *write,
                 const struct luaweb_shared_value *value)
{
    struct lw_draft draft = {
        .key = write->key,
        .bits = bits_of(value->number),
        .expires_us = write->expires_us,
        .hash = at->hash,
        .kind = (uint16_t)value->kind,
    };
    at->shard->head->writes++;
    if (value->kind == LUAWEB_SHARED_TEXT)
        draft.text = value->text;
    else if (at->entry && at->place.item->kind == value->kind) {
        overwrite(at, draft.bits, write->expires_us);
        return LUAWEB_SHARED_DONE;
    }
    size_t octets = draft.key.size + draft.text.size;
    if (octets > lw_table_max_item(table))
        return LUAWEB_SHARED_TOO_LARGE;
    lw_shard_sweep(at->shard, write->now_us);
    lw_shard_make_room(at->shard, lw_shard_blocks_for(octets), write->now_us);
    find(at, write->key, write->now_us);
    lw_shard_store(at->shard, at->place, &draft, write->now_us);
    return LUAWEB_SHARED_DONE;
}

int lw_table_set(struct lw_table *table, const struct lw_write *write,
                 const struct luaweb_shared_value *value)
{
    struct at at;
    if (!enter(table, write->key, write->now_us, &at))
        return LUAWEB_SHARED_BUSY;
    int result = store(table, &at, write, value);
    lw_shard_leave(at.shard);
    return result;
}

int lw_table_add(struct lw_table *table, const struct lw_write *write,
                 const struct luaweb_shared_value *value)
{
    struct at at;
    if (!enter(table, write->key, write->now_us, &at))
        return LUAWEB_SHARED_BUSY;
    int result = at.entry ? LUAWEB_SHARED_OTHER : store(table, &at, write, value);
    lw_shard_leave(at.shard);
    return result;
}

static bool is_value(const struct at *at, const struct luaweb_shared_value *value)
{
    if (!at->entry || value->kind == LUAWEB_SHARED_NIL)
        return !at->entry && value->kind == LUAWEB_SHARED_NIL;
    const struct lw_item *item = at->place.item;
    if (item->kind != value->kind)
        return false;
    if (item->kind != LUAWEB_SHARED_TEXT)
        return number_of(item->bits) == value->number;
    return item->text_size == value->text.size
           && lw_shard_same(at->shard, item, item->key_size, value->text);
}

int lw_table_compare_and_set(struct lw_table *table, const struct lw_write *write,
                             const struct luaweb_shared_value *expected,
                             const struct luaweb_shared_value *value)
{
    struct at at;
    int result = LUAWEB_SHARED_OTHER;
    if (!enter(table, write->key, write->now_us, &at))
        return LUAWEB_SHARED_BUSY;
    if (is_value(&at, expected)) {
        result = LUAWEB_SHARED_DONE;
        if (value->kind != LUAWEB_SHARED_NIL)
            result = store(table, &at, write, value);
        else if (at.entry)
            lw_shard_remove(at.shard, at.place);
    }
    lw_shard_leave(at.shard);
    return result;
}

int lw_table_incr(struct lw_table *table, const struct lw_write *write, double by,
                  double start, double *number)
{
    struct at at;
    int result = LUAWEB_SHARED_DONE;
    if (!enter(table, write->key, write->now_us, &at))
        return LUAWEB_SHARED_BUSY;
    if (!at.entry) {
        *number = start + by;
        struct luaweb_shared_value value = {.kind = LUAWEB_SHARED_NUMBER,
                                            .number = *number};
        result = store(table, &at, write, &value);
    } else if (at.place.item->kind == LUAWEB_SHARED_NUMBER) {
        *number = number_of(at.place.item->bits) + by;
        at.shard->head->writes++;
        overwrite(&at, bits_of(*number), at.entry->expires_us);
    } else
        result = LUAWEB_SHARED_OTHER;
    lw_shard_leave(at.shard);
    return result;
}

int lw_table_delete(struct lw_table *table, struct luaweb_slice key, uint64_t now_us)
{
    struct at at;
    if (!enter(table, key, now_us, &at))
        return LUAWEB_SHARED_BUSY;
    if (at.place.item) {
        at.shard->head->writes++;
        lw_shard_remove(at.shard, at.place);
    }
    int result = at.entry ? LUAWEB_SHARED_DONE : LUAWEB_SHARED_ABSENT;
    lw_shard_leave(at.shard);
    return result;
}

/* Notes when all is there again, for as long as that matters. */
static void keep_until(struct lw_table *table, struct at *at, struct luaweb_slice key,
                       uint64_t now_us, double full_at)
{
    const struct lw_write write = {key, now_us, (uint64_t)full_at + 1};
    const struct luaweb_shared_value value = {.kind = LUAWEB_SHARED_NUMBER,
                                              .number = full_at};
    store(table, at, &write, &value);
}

int lw_table_take(struct lw_table *table, struct luaweb_slice key, uint64_t now_us,
                  const struct lw_rate *rate, struct lw_rate_state *state)
{
    struct at at;
    if (!enter(table, key, now_us, &at))
        return LUAWEB_SHARED_BUSY;
    const double now = (double)now_us;
    const double most = rate->burst * rate->interval_us;
    double full_at = now; /* when all is there again */
    if (at.entry && number_of(at.place.item->bits) > now)
        full_at = number_of(at.place.item->bits);
    bool is_other = full_at > now + most; /* left by another rate, before a reload */
    if (is_other)
        full_at = now + most;
    int result = full_at + rate->interval_us - now > most ? LUAWEB_SHARED_OTHER
                                                          : LUAWEB_SHARED_DONE;
    if (result == LUAWEB_SHARED_DONE)
        full_at += rate->interval_us;
    if (result == LUAWEB_SHARED_DONE || is_other)
        keep_until(table, &at, key, now_us, full_at);
    lw_shard_leave(at.shard);
    state->left = (most - (full_at - now)) / rate->interval_us;
    state->full_s = (full_at - now) / 1e6;
    state->retry_s = (full_at + rate->interval_us - now - most) / 1e6;
    return result;
}

uint64_t lw_table_max_item(const struct lw_table *table)
{
    uint64_t room = (uint64_t)(table->shards[0].block_count / 4 - 1) * LW_NEXT_ROOM;
    uint64_t most = MAX_VALUE + LUAWEB_SHARED_MAX_KEY;
    return room < most ? room : most;
}
