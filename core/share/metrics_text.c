/* SPDX-License-Identifier: MIT
 *
 * Adding up the slots and writing the sums down, one family of metrics after the other.
 * What a worker counted is there after its end; its gauges are not. */
#include "share/metrics_text.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/require.h"
#include "base/slice.h"
#include "share/metrics.h"
#include "share/metrics_tables.h"
#include "share/usage.h"

struct slot_view {
    const struct lw_metrics_slot *slot;
    uint32_t number;
    bool is_alive;
    struct lw_usage usage;
};

struct view {
    struct lw_page *page;
    const struct lw_metrics *metrics;
    uint32_t count;
    struct slot_view slots[LW_METRIC_SLOTS]; /* in use */
};

static void look(struct view *view)
{
    for (uint32_t i = 0; i < LW_METRIC_SLOTS; i++) {
        const struct lw_metrics_slot *slot = &view->metrics->slots[i];
        if (!atomic_load(&slot->is_used))
            continue;
        struct slot_view *seen = &view->slots[view->count++];
        seen->slot = slot;
        seen->number = i;
        seen->is_alive = lw_usage_read(atomic_load(&slot->pid), &seen->usage);
    }
}

static void write_family(struct view *view, const char *name, const char *type,
                         const char *help)
{
    lw_page_add(view->page, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_line(struct view *view, const char *name, const char *labels,
                       double value)
{
    lw_page_add(view->page, *labels ? "%s{%s} " : "%s%s ", name, labels);
    lw_page_number(view->page, value);
    lw_page_add(view->page, "\n");
}

/* Workers are counted from 1, as in the log. */
static void write_labels(char labels[static 128], uint32_t number, const char *more)
{
    const char *comma = *more ? "," : "";
    if (number == LW_METRIC_MASTER)
        snprintf(labels, 128, "worker=\"master\"%s%s", comma, more);
    else
        snprintf(labels, 128, "worker=\"%u\"%s%s", number + 1, comma, more);
}

/* The table --------------------------------------------------------------------------*/

enum kind {
    COUNTER,
    GAUGE
};

enum scope {
    SUM,
    EACH
};

static const struct row {
    const char *name;
    const char *labels;
    enum kind kind;
    enum scope scope;
    const char *help;
} rows[LW_METRICS] = {
#define METRIC(id, name, labels, kind, scope, help) {name, labels, kind, scope, help},
    LW_METRICS_TABLE(METRIC)
#undef METRIC
};

static double value_of(const struct slot_view *seen, int metric)
{
    return atomic_load_explicit(&seen->slot->values[metric], memory_order_relaxed);
}

static bool counts(const struct row *row, const struct slot_view *seen)
{
    return row->kind == COUNTER || seen->is_alive;
}

static void write_sum(struct view *view, int metric)
{
    double sum = 0;
    for (uint32_t i = 0; i < view->count; i++)
        if (counts(&rows[metric], &view->slots[i]))
            sum += value_of(&view->slots[i], metric);
    write_line(view, rows[metric].name, rows[metric].labels, sum);
}

static void write_each(struct view *view, int metric)
{
    char labels[128];
    for (uint32_t i = 0; i < view->count; i++) {
        const struct slot_view *seen = &view->slots[i];
        if (!counts(&rows[metric], seen) || seen->number == LW_METRIC_MASTER)
            continue;
        write_labels(labels, seen->number, rows[metric].labels);
        write_line(view, rows[metric].name, labels, value_of(seen, metric));
    }
}

static void write_table(struct view *view)
{
    for (int i = 0; i < LW_METRICS; i++) {
        const struct row *row = &rows[i];
        if (i == 0 || strcmp(row->name, rows[i - 1].name) != 0)
            write_family(view, row->name, row->kind == GAUGE ? "gauge" : "counter",
                         row->help);
        if (row->scope == SUM)
            write_sum(view, i);
        else
            write_each(view, i);
    }
}

/* Series -----------------------------------------------------------------------------*/

struct series {
    uint32_t key;
    uint64_t count;
};

static int compare(const void *a, const void *b)
{
    uint32_t left = ((const struct series *)a)->key;
    uint32_t right = ((const struct series *)b)->key;
    return left < right ? -1 : left > right;
}

/* The series of which something was counted, in order of their keys: those of requests
 * come first.  Owned by the caller. */
static struct series *collect(const struct view *view, uint32_t *count)
{
    struct series *list = lw_alloc(LW_METRIC_SERIES * sizeof *list);
    *count = 0;
    for (uint32_t at = 0; at < LW_METRIC_SERIES; at++) {
        struct series series = {.key = atomic_load(&view->metrics->keys[at])};
        for (uint32_t i = 0; series.key && i < view->count; i++)
            series.count += atomic_load_explicit(&view->slots[i].slot->series[at],
                                                 memory_order_relaxed);
        if (series.count > 0)
            list[(*count)++] = series;
    }
    qsort(list, *count, sizeof *list, compare);
    return list;
}

static void write_label(struct lw_page *page, const char *name, uint32_t label)
{
    struct luaweb_slice text = lw_metrics_label_text(label);
    lw_page_add(page, "%s=\"", name);
    lw_page_value(page, text.data, text.size);
    lw_page_add(page, "\"");
}

static void write_status(struct view *view, uint32_t status)
{
    if (status)
        lw_page_add(view->page, ",status=\"%u\"", status);
    else
        lw_page_add(view->page, ",status=\"none\"");
}

static void write_series(struct view *view)
{
    uint32_t count;
    struct series *list = collect(view, &count);
    uint32_t at = 0;
    write_family(view, "luaweb_requests_total", "counter",
                 "Requests that have ended; status \"none\": without an answer.");
    for (; at < count && !(list[at].key >> 24 & 1); at++) {
        uint32_t key = list[at].key;
        lw_page_add(view->page, "luaweb_requests_total{");
        write_label(view->page, "template", lw_metrics_key_label(key));
        lw_page_add(view->page, ",method=\"%s\"",
                    lw_metrics_method_text(key >> 10 & 7));
        write_status(view, key & 1023);
        lw_page_add(view->page, "} %llu\n", (unsigned long long)list[at].count);
    }
    write_family(view, "luaweb_parse_errors_total", "counter",
                 "Octets refused since they are no request, or no content of one.");
    for (; at < count; at++) {
        lw_page_add(view->page, "luaweb_parse_errors_total{");
        write_label(view->page, "reason", lw_metrics_key_label(list[at].key));
        write_status(view, list[at].key & 1023);
        lw_page_add(view->page, "} %llu\n", (unsigned long long)list[at].count);
    }
    free(list);
}

/* Durations --------------------------------------------------------------------------*/

#define DURATION "luaweb_request_duration_seconds"

/* Bounds as text, since they are written for each template. */
struct bounds {
    struct lw_page texts[LW_METRIC_BUCKETS];
};

static void begin_bounds(struct bounds *bounds)
{
    *bounds = (struct bounds){0};
    for (uint32_t b = 0; b < LW_METRIC_BUCKETS - 1; b++)
        lw_page_number(&bounds->texts[b], (double)lw_metric_bounds[b] / 1e9);
    lw_page_add(&bounds->texts[LW_METRIC_BUCKETS - 1], "+Inf");
}

static void end_bounds(struct bounds *bounds)
{
    for (uint32_t b = 0; b < LW_METRIC_BUCKETS; b++)
        lw_page_free(&bounds->texts[b]);
}

/* Adds up a template's over all slots: how many, and for how long. */
static uint64_t sum_durations(const struct view *view, uint32_t label,
                              uint64_t counts[LW_METRIC_BUCKETS], uint64_t *sum_ns)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < view->count; i++) {
        const struct lw_durations *durations = &view->slots[i].slot->durations[label];
        *sum_ns += atomic_load_explicit(&durations->sum_ns, memory_order_relaxed);
        for (uint32_t b = 0; b < LW_METRIC_BUCKETS; b++) {
            uint64_t some =
                atomic_load_explicit(&durations->counts[b], memory_order_relaxed);
            counts[b] += some;
            count += some;
        }
    }
    return count;
}

static void write_durations_of(struct view *view, uint32_t label,
                               const struct bounds *bounds)
{
    struct lw_page *page = view->page;
    uint64_t counts[LW_METRIC_BUCKETS] = {0};
    uint64_t sum_ns = 0;
    uint64_t so_far = 0;
    uint64_t count = sum_durations(view, label, counts, &sum_ns);
    if (count == 0)
        return;
    struct lw_page head = {0};
    lw_page_add(&head, DURATION "_bucket{");
    write_label(&head, "template", label);
    lw_page_add(&head, ",le=\"");
    for (uint32_t b = 0; b < LW_METRIC_BUCKETS; b++) {
        lw_page_text(page, head.data, head.size);
        lw_page_text(page, bounds->texts[b].data, bounds->texts[b].size);
        lw_page_text(page, "\"} ", 3);
        lw_page_count(page, so_far += counts[b]);
        lw_page_text(page, "\n", 1);
    }
    lw_page_free(&head);
    lw_page_add(page, DURATION "_sum{");
    write_label(view->page, "template", label);
    lw_page_add(page, "} ");
    lw_page_number(page, (double)sum_ns / 1e9);
    lw_page_add(page, "\n" DURATION "_count{");
    write_label(view->page, "template", label);
    lw_page_add(page, "} %llu\n", (unsigned long long)count);
}

static void write_durations(struct view *view)
{
    write_family(view, DURATION, "histogram",
                 "From when its octets were read to the end of the turn in which its "
                 "answer was complete.");
    struct bounds bounds;
    begin_bounds(&bounds);
    for (uint32_t label = 0; label < LW_METRIC_LABELS; label++)
        if (lw_metrics_label_text(label).size > 0)
            write_durations_of(view, label, &bounds);
    end_bounds(&bounds);
}

/* Processes --------------------------------------------------------------------------*/

static const struct {
    const char *name, *type, *help;
    size_t offset; /* in struct lw_usage */
} usages[] = {
    {"process_cpu_seconds_total",     "counter", "User and system CPU time.",
     offsetof(struct lw_usage,                                                                           cpu_s)      },
    {"process_resident_memory_bytes", "gauge",   "Resident memory.",
     offsetof(struct lw_usage,                                                                           resident)   },
    {"process_open_fds",              "gauge",   "Descriptors that are open.",
     offsetof(struct lw_usage,                                                                           descriptors)},
    {"process_threads",               "gauge",   "Threads.",                   offsetof(struct lw_usage, threads)    },
};

static void write_usages(struct view *view)
{
    char labels[128];
    for (size_t u = 0; u < sizeof usages / sizeof *usages; u++) {
        write_family(view, usages[u].name, usages[u].type, usages[u].help);
        for (uint32_t i = 0; i < view->count; i++) {
            const struct slot_view *seen = &view->slots[i];
            double value;
            memcpy(&value, (const char *)&seen->usage + usages[u].offset, sizeof value);
            write_labels(labels, seen->number, "");
            if (seen->is_alive && value >= 0)
                write_line(view, usages[u].name, labels, value);
        }
    }
}

static void write_starts(struct view *view)
{
    char labels[128];
    write_family(view, "process_start_time_seconds", "gauge",
                 "When the process began, since 1970.");
    for (uint32_t i = 0; i < view->count; i++) {
        const struct slot_view *seen = &view->slots[i];
        if (!seen->is_alive)
            continue;
        write_labels(labels, seen->number, "");
        write_line(view, "process_start_time_seconds", labels,
                   (double)atomic_load(&seen->slot->began_ms) / 1e3);
    }
}

/* What the board tells: a worker whose turn has begun and does not end stands still. */
static void write_board(struct view *view)
{
    const struct lw_board *board = lw_board();
    struct timespec now;
    char labels[128];
    clock_gettime(CLOCK_MONOTONIC, &now);
    double now_ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
    write_family(view, "luaweb_worker_generation", "gauge",
                 "The generation of the app that serves.");
    for (uint32_t i = 0; i < view->count; i++) {
        const struct slot_view *seen = &view->slots[i];
        if (!seen->is_alive || seen->number >= LW_MAX_WORKERS)
            continue;
        write_labels(labels, seen->number, "");
        write_line(view, "luaweb_worker_generation", labels,
                   atomic_load(&board->slots[seen->number].generation));
    }
    write_family(view, "luaweb_worker_turn_seconds", "gauge",
                 "For how long the turn has run that runs; 0: it waits for octets.");
    for (uint32_t i = 0; i < view->count; i++) {
        const struct slot_view *seen = &view->slots[i];
        if (!seen->is_alive || seen->number >= LW_MAX_WORKERS)
            continue;
        uint64_t began_ms = atomic_load(&board->slots[seen->number].turn_began_ms);
        double took_ms = began_ms ? now_ms - (double)began_ms : 0;
        write_labels(labels, seen->number, "");
        write_line(view, "luaweb_worker_turn_seconds", labels,
                   took_ms > 0 ? took_ms / 1e3 : 0);
    }
}

void lw_metrics_write(struct lw_page *page)
{
    struct view view = {.page = page, .metrics = lw_metrics()};
    look(&view);
    write_family(&view, "luaweb_build_info", "gauge", "Which luaweb this is.");
    write_line(&view, "luaweb_build_info", "version=\"" LUAWEB_VERSION "\"", 1);
    write_family(&view, "luaweb_start_time_seconds", "gauge",
                 "When the server began, since 1970.");
    write_line(&view, "luaweb_start_time_seconds", "",
               (double)atomic_load(&view.metrics->began_ms) / 1e3);
    write_series(&view);
    write_durations(&view);
    write_table(&view);
    write_board(&view);
    write_usages(&view);
    write_starts(&view);
    lw_metrics_write_tables(page);
}
