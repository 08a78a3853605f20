/* SPDX-License-Identifier: MIT
 *
 * What a server counts, in shared memory.  Each worker has a slot, and so has the
 * master; only its owner writes a slot, without locks, and whoever is asked adds them
 * up.  Counts outlive the worker: who takes the slot next goes on with them.
 *
 * Numbers without much of a label are a table (metrics_table.h).  Requests are counted
 * by series: a template, a method and a status have one number in all processes.
 * Templates and other texts are labels, kept once for all.  Both are bounded: what finds
 * no room is counted under the label "other". */
#ifndef LW_SHARE_METRICS_H
#define LW_SHARE_METRICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"
#include "share/board.h"
#include "share/metrics_table.h"

#define LW_METRIC_LABELS  2048  /* places; three quarters of them are used at most */
#define LW_METRIC_SERIES  16384 /* likewise */
#define LW_METRIC_LABEL   232   /* octets of a label; longer ones are cut */
#define LW_METRIC_BUCKETS 18    /* of durations; the last one has no bound */

/* Labels that are always there. */
enum lw_metric_label {
    LW_LABEL_OTHER,     /* those that found no room */
    LW_LABEL_UNMATCHED, /* no resource is at that path */
    LW_LABEL_SERVER,    /* OPTIONS of the server itself */
    LW_LABELS_FIXED
};

struct lw_durations {
    _Atomic uint64_t sum_ns;
    _Atomic uint64_t counts[LW_METRIC_BUCKETS];
};

/* What one process has counted. */
struct lw_metrics_slot {
    _Alignas(128) _Atomic int32_t pid; /* whose gauges these are; 0: of nobody */
    _Atomic uint32_t is_used;          /* somebody has counted here */
    _Atomic uint64_t began_ms;         /* when it did, since 1970 */
    _Atomic double values[LW_METRICS];
    _Atomic uint64_t series[LW_METRIC_SERIES];
    struct lw_durations durations[LW_METRIC_LABELS]; /* by label */
};

struct lw_metric_text {
    _Atomic uint64_t hash; /* of the text; 0: free */
    _Atomic uint32_t size; /* 0: it is not written yet */
    char text[LW_METRIC_LABEL];
};

#define LW_METRIC_SLOTS  (LW_MAX_WORKERS + 1)
#define LW_METRIC_MASTER LW_MAX_WORKERS /* the master's */

struct lw_metrics {
    _Atomic uint64_t began_ms; /* since 1970, when the server began */
    _Atomic uint32_t label_count;
    _Atomic uint32_t series_count;
    struct lw_metric_text labels[LW_METRIC_LABELS];
    _Atomic uint32_t keys[LW_METRIC_SERIES]; /* of the series; 0: free */
    struct lw_metrics_slot slots[LW_METRIC_SLOTS];
};

/* All that is counted; never NULL.  Where there is no shared memory, it is this
 * process's own. */
struct lw_metrics *lw_metrics(void);

/* Takes a slot for this process: its gauges begin at 0, its counts go on. */
void lw_metrics_take(uint32_t slot);

/* The slot of this process: the first one, until one is taken. */
struct lw_metrics_slot *lw_metrics_own(void);

/* Counts what the master knows of a worker: LW_METRIC_RESTARTS. */
void lw_metrics_count_of(uint32_t slot, enum lw_metric metric);

/* The number of a text (copied; it may be cut).  For when an app loads or something
 * goes wrong, not for each request; the texts are not a client's. */
uint32_t lw_metrics_label(struct luaweb_slice text);

/* The text of a label, lent for ever; empty: there is none. */
struct luaweb_slice lw_metrics_label_text(uint32_t label);

/* The usual methods. */
enum lw_metric_method {
    LW_METRIC_OTHER_METHOD,
    LW_METRIC_GET,
    LW_METRIC_HEAD,
    LW_METRIC_POST,
    LW_METRIC_PUT,
    LW_METRIC_PATCH,
    LW_METRIC_DELETE,
    LW_METRIC_OPTIONS,
    LW_METRIC_METHODS
};

enum lw_metric_method lw_metrics_method(struct luaweb_slice method);

/* The text of a label "method", below LW_METRIC_METHODS. */
const char *lw_metrics_method_text(uint32_t method);

/* What a series counts. */
enum lw_metric_kind {
    LW_METRIC_REQUEST, /* label: the template */
    LW_METRIC_REFUSAL  /* octets that are no request; label: why */
};

/* A series by what it counts: 1, kind (1 bit), label (11), method (3), status (10: 0,
 * or 100..999). */
static inline uint32_t lw_metrics_key(enum lw_metric_kind kind, uint32_t label,
                                      uint32_t method, uint32_t status)
{
    return 1U << 31 | (uint32_t)kind << 24 | label << 13 | method << 10 | status;
}

static inline uint32_t lw_metrics_key_label(uint32_t key)
{
    return key >> 13 & (LW_METRIC_LABELS - 1);
}

/* The bits of the method alone. */
static inline uint32_t lw_metrics_key_method(uint32_t method)
{
    return method << 10;
}

static inline uint32_t lw_metrics_place(uint32_t key)
{
    return key * 2654435761U >> 18 & (LW_METRIC_SERIES - 1);
}

/* The number of a series that does not lie at its place. */
uint32_t lw_metrics_find(uint32_t key);

/* The number of a series. */
static inline uint32_t lw_metrics_series(const struct lw_metrics *metrics, uint32_t key)
{
    uint32_t at = lw_metrics_place(key);
    uint32_t there = atomic_load_explicit(&metrics->keys[at], memory_order_relaxed);
    return there == key ? at : lw_metrics_find(key);
}

/* What is counted is written by its owner only, so nothing has to be locked. */
static inline void lw_metrics_bump(_Atomic uint64_t *count, uint64_t by)
{
    uint64_t now = atomic_load_explicit(count, memory_order_relaxed) + by;
    atomic_store_explicit(count, now, memory_order_relaxed);
}

static inline void lw_metrics_add(struct lw_metrics_slot *slot, enum lw_metric metric,
                                  double by)
{
    _Atomic double *value = &slot->values[metric];
    double now = atomic_load_explicit(value, memory_order_relaxed) + by;
    atomic_store_explicit(value, now, memory_order_relaxed);
}

static inline void lw_metrics_set(struct lw_metrics_slot *slot, enum lw_metric metric,
                                  double to)
{
    atomic_store_explicit(&slot->values[metric], to, memory_order_relaxed);
}

/* Counts `count` requests of a label that took this long. */
void lw_metrics_took(struct lw_metrics_slot *slot, uint32_t label, uint64_t ns,
                     uint64_t count);

/* The upper bounds of the buckets in nanoseconds, but for the last one. */
extern const uint64_t lw_metric_bounds[LW_METRIC_BUCKETS - 1];

#endif
