/* SPDX-License-Identifier: MIT
 *
 * One family of metrics for each number of a shared table. */
#include "share/metrics_tables.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "share/table.h"

enum {
    MOST = 256 /* tables */
};

struct family {
    const char *name; /* behind luaweb_shared_ */
    const char *type;
    size_t offset; /* in struct lw_table_stats */
    const char *help;
};

#define AT(field) offsetof(struct lw_table_stats, field)

/* clang-format off */
static const struct family families[] = {
    /* name               type       number         help */
    {"size_bytes",      "gauge",   AT(size),      "What a shared table may take."},
    {"capacity_bytes",  "gauge",   AT(capacity),  "Room for keys and values."},
    {"used_bytes",      "gauge",   AT(used),      "Of that room, what is taken."},
    {"items",           "gauge",   AT(count),     "Keys; some may have expired."},
    {"hits_total",      "counter", AT(hits),      "Reads that found a value."},
    {"misses_total",    "counter", AT(misses),    "Reads that found none."},
    {"writes_total",    "counter", AT(writes),    "Writes."},
    {"evictions_total", "counter", AT(evictions), "Items gone before their time."},
    {"expired_total",   "counter", AT(expired),   "Items gone after it."},
    {"repairs_total",   "counter", AT(repairs),   "Writes of the dead, undone."},
    {"resets_total",    "counter", AT(resets),    "Unreadable parts, emptied."},
    {"busy_total",      "counter", AT(busy),      "Calls that gave up."},
};
/* clang-format on */

/* A table as it is at the moment. */
struct seen {
    char name[LUAWEB_SHARED_MAX_NAME + 1];
    struct lw_table_stats stats;
};

static uint32_t look(struct seen *list)
{
    uint32_t count = 0;
    while (count < MOST) {
        struct lw_table *table = lw_table_at(count, list[count].name);
        if (!table)
            break;
        lw_table_stats(table, &list[count++].stats);
    }
    return count;
}

static void write_line(struct lw_page *page, const struct family *family,
                       const struct seen *seen)
{
    uint64_t number;
    memcpy(&number, (const char *)&seen->stats + family->offset, sizeof number);
    lw_page_add(page, "luaweb_shared_%s{table=\"", family->name);
    lw_page_value(page, seen->name, strlen(seen->name));
    lw_page_add(page, "\"} ");
    lw_page_number(page, (double)number);
    lw_page_add(page, "\n");
}

void lw_metrics_write_tables(struct lw_page *page)
{
    struct seen *list = lw_alloc(MOST * sizeof *list);
    uint32_t count = look(list);
    for (size_t i = 0; count && i < sizeof families / sizeof *families; i++) {
        const struct family *family = &families[i];
        lw_page_add(page, "# HELP luaweb_shared_%s %s\n# TYPE luaweb_shared_%s %s\n",
                    family->name, family->help, family->name, family->type);
        for (uint32_t j = 0; j < count; j++)
            write_line(page, family, &list[j]);
    }
    free(list);
}
