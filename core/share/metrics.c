/* SPDX-License-Identifier: MIT
 *
 * Finding and adding labels and series.  Both are tables of which a place, once taken,
 * is never given back, and is taken by one atomic exchange: a process that dies anywhere
 * leaves them whole.  Who takes a label's place writes its text, and so does anybody who
 * finds it unwritten: all write the same. */
#include "share/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/require.h"
#include "base/slice.h"
#include "base/utf8.h"
#include "share/region.h"

#define REGION "metrics.1"

/* clang-format off */
const uint64_t lw_metric_bounds[LW_METRIC_BUCKETS - 1] = {
    50000,     100000,    250000,    500000,     /* 50 us .. 500 us */
    1000000,   2500000,   5000000,               /* 1 ms .. */
    10000000,  25000000,  50000000,
    100000000, 250000000, 500000000,
    1000000000, 2500000000, 5000000000, 10000000000
};
/* clang-format on */

static const bool is_gauge[LW_METRICS] = {
#define COUNTER                                     false
#define GAUGE                                       true
#define METRIC(id, name, labels, kind, scope, help) kind,
    LW_METRICS_TABLE(METRIC)
#undef METRIC
#undef GAUGE
#undef COUNTER
};

static const struct luaweb_slice fixed[LW_LABELS_FIXED] = {
    [LW_LABEL_OTHER] = {"other",     5},
    [LW_LABEL_UNMATCHED] = {"unmatched", 9},
    [LW_LABEL_SERVER] = {"*",         1},
};

static const struct luaweb_slice methods[LW_METRIC_METHODS] = {
    [LW_METRIC_OTHER_METHOD] = {"other",   5},
    [LW_METRIC_GET] = {"GET",     3},
    [LW_METRIC_HEAD] = {"HEAD",    4},
    [LW_METRIC_POST] = {"POST",    4},
    [LW_METRIC_PUT] = {"PUT",     3},
    [LW_METRIC_PATCH] = {"PATCH",   5},
    [LW_METRIC_DELETE] = {"DELETE",  6},
    [LW_METRIC_OPTIONS] = {"OPTIONS", 7},
};

static struct lw_metrics *all;
static struct lw_metrics_slot *own;

/* Milliseconds since 1970. */
static uint64_t time_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

struct lw_metrics *lw_metrics(void)
{
    if (all)
        return all;
    all = lw_share_region(REGION, sizeof *all);
    if (!all)
        all = calloc(1, sizeof *all);
    lw_require(all);
    uint64_t never = 0;
    atomic_compare_exchange_strong(&all->began_ms, &never, time_ms());
    return all;
}

void lw_metrics_take(uint32_t slot)
{
    lw_require(slot < LW_METRIC_SLOTS);
    own = &lw_metrics()->slots[slot];
    for (int i = 0; i < LW_METRICS; i++)
        if (is_gauge[i])
            lw_metrics_set(own, (enum lw_metric)i, 0);
    atomic_store(&own->began_ms, time_ms());
    atomic_store(&own->pid, (int32_t)getpid());
    atomic_store(&own->is_used, 1);
}

struct lw_metrics_slot *lw_metrics_own(void)
{
    if (!own)
        lw_metrics_take(0);
    return own;
}

void lw_metrics_count_of(uint32_t slot, enum lw_metric metric)
{
    lw_require(slot < LW_METRIC_SLOTS && metric < LW_METRICS);
    lw_metrics_add(&lw_metrics()->slots[slot], metric, 1);
}

/* Never 0. */
static uint64_t hash_of(struct luaweb_slice text)
{
    uint64_t hash = lw_fnv(text.data, text.size);
    return hash ? hash : 1;
}

/* What is too long for a label ends in dots. */
static struct luaweb_slice cut(struct luaweb_slice text, char room[LW_METRIC_LABEL])
{
    static const char dots[] = "...";
    size_t size = 0;
    if (text.size <= LW_METRIC_LABEL)
        return text;
    for (;;) {
        size_t next = lw_utf8_size(text.data + size, text.size - size);
        if (next == 0)
            next = 1;
        if (size + next > LW_METRIC_LABEL - (sizeof dots - 1))
            break;
        size += next;
    }
    memcpy(room, text.data, size);
    memcpy(room + size, dots, sizeof dots - 1);
    return lw_slice(room, size + sizeof dots - 1);
}

static void write_text(struct lw_metric_text *label, struct luaweb_slice text)
{
    if (atomic_load_explicit(&label->size, memory_order_acquire) != 0)
        return;
    memcpy(label->text, text.data, text.size);
    atomic_store_explicit(&label->size, (uint32_t)text.size, memory_order_release);
}

/* Whether one more may take a place, of which there are so many. */
static bool may_take(_Atomic uint32_t *count, uint32_t places)
{
    return atomic_load_explicit(count, memory_order_relaxed) < places / 4 * 3;
}

uint32_t lw_metrics_label(struct luaweb_slice text)
{
    char room[LW_METRIC_LABEL];
    struct lw_metrics *metrics = lw_metrics();
    const uint32_t places = LW_METRIC_LABELS - LW_LABELS_FIXED;
    if (text.size == 0)
        return LW_LABEL_OTHER;
    text = cut(text, room);
    for (uint32_t i = 0; i < LW_LABELS_FIXED; i++)
        if (lw_slice_equal(fixed[i], text))
            return i;
    uint64_t hash = hash_of(text);
    for (uint32_t i = 0; i < places; i++) {
        uint32_t at = LW_LABELS_FIXED + (uint32_t)((hash + i) % places);
        struct lw_metric_text *label = &metrics->labels[at];
        uint64_t there = atomic_load(&label->hash);
        if (there == 0 && !may_take(&metrics->label_count, LW_METRIC_LABELS))
            return LW_LABEL_OTHER;
        if (there == 0 && atomic_compare_exchange_strong(&label->hash, &there, hash)) {
            atomic_fetch_add(&metrics->label_count, 1);
            there = hash;
        }
        if (there != hash)
            continue;
        write_text(label, text);
        return at;
    }
    return LW_LABEL_OTHER;
}

struct luaweb_slice lw_metrics_label_text(uint32_t label)
{
    if (label < LW_LABELS_FIXED)
        return fixed[label];
    const struct lw_metric_text *text = &lw_metrics()->labels[label];
    return lw_slice(text->text,
                    atomic_load_explicit(&text->size, memory_order_acquire));
}

enum lw_metric_method lw_metrics_method(struct luaweb_slice method)
{
    for (int i = LW_METRIC_OTHER_METHOD + 1; i < LW_METRIC_METHODS; i++)
        if (lw_slice_equal(method, methods[i]))
            return (enum lw_metric_method)i;
    return LW_METRIC_OTHER_METHOD;
}

const char *lw_metrics_method_text(uint32_t method)
{
    return methods[method].data;
}

/* The same for the label "other"; where it is that one, for all that is left. */
static uint32_t without_label(uint32_t key)
{
    uint32_t kind = key & 1U << 24;
    uint32_t rest = key & 0x1fff;
    bool has_label = lw_metrics_key_label(key) != LW_LABEL_OTHER;
    return 1U << 31 | kind | (has_label ? rest : 0);
}

/* Where a key is, or may be put: a place that is free. */
static uint32_t place_of(const struct lw_metrics *metrics, uint32_t key)
{
    uint32_t at = lw_metrics_place(key);
    for (;;) {
        uint32_t there = atomic_load(&metrics->keys[at]);
        if (there == key || there == 0)
            return at;
        at = (at + 1) % LW_METRIC_SERIES;
    }
}

/* There are always free places: past three quarters only the label "other" gets some,
 * and past seven eighths only its series without method and status. */
static bool has_room(struct lw_metrics *metrics, uint32_t key)
{
    if (may_take(&metrics->series_count, LW_METRIC_SERIES) || !(key & 0x1fff))
        return true;
    uint32_t count = atomic_load(&metrics->series_count);
    return lw_metrics_key_label(key) == LW_LABEL_OTHER
           && count < LW_METRIC_SERIES / 8 * 7;
}

uint32_t lw_metrics_find(uint32_t key)
{
    struct lw_metrics *metrics = lw_metrics();
    for (;;) {
        uint32_t at = place_of(metrics, key);
        uint32_t there = atomic_load(&metrics->keys[at]);
        if (there == key)
            return at;
        if (there != 0)
            continue; /* taken just now */
        if (!has_room(metrics, key)) {
            key = without_label(key);
        } else if (atomic_compare_exchange_strong(&metrics->keys[at], &there, key)) {
            atomic_fetch_add(&metrics->series_count, 1);
            return at;
        }
    }
}

void lw_metrics_took(struct lw_metrics_slot *slot, uint32_t label, uint64_t ns,
                     uint64_t count)
{
    struct lw_durations *durations = &slot->durations[label];
    uint32_t bucket = 0;
    while (bucket < LW_METRIC_BUCKETS - 1 && ns > lw_metric_bounds[bucket])
        bucket++;
    lw_metrics_bump(&durations->counts[bucket], count);
    lw_metrics_bump(&durations->sum_ns, ns * count);
}
