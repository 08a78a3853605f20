/* SPDX-License-Identifier: MIT
 *
 * Tables by name: a directory in shared memory says which size a name has now, and how
 * often that has changed; each time the table lies in another region. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/require.h"
#include "share/region.h"
#include "share/robust.h"
#include "share/table.h"

enum {
    MAX_TABLES = 256,
    WAIT_MS = 2000
};

struct named {
    char name[LUAWEB_SHARED_MAX_NAME + 1];
    uint64_t size;
    uint64_t serial; /* counts sizes; 0: not written to its end */
};

struct directory {
    pthread_mutex_t lock;
    uint32_t count;
    struct named list[MAX_TABLES];
};

/* Those that this process has opened. */
struct opened {
    struct opened *next;
    struct lw_table *table;
    uint64_t serial;
    bool is_old; /* the name is another table's by now */
    char name[LUAWEB_SHARED_MAX_NAME + 1];
};
static struct opened *all;

static void begin(void *memory, size_t size)
{
    (void)size;
    lw_robust_begin(&((struct directory *)memory)->lock);
}

static struct named *find_or_add(struct directory *directory, const char *name,
                                 uint64_t size)
{
    for (uint32_t i = 0; i < directory->count; i++) {
        if (strcmp(directory->list[i].name, name) == 0)
            return &directory->list[i];
    }
    if (directory->count == MAX_TABLES)
        return NULL;
    struct named *named = &directory->list[directory->count];
    *named = (struct named){.size = size, .serial = 1};
    memcpy(named->name, name, strlen(name) + 1);
    __atomic_store_n(&directory->count, directory->count + 1, __ATOMIC_RELEASE);
    return named;
}

/* Which of the tables that have had this name; 0: no room for another. */
static uint64_t serial_of(struct directory *directory, const char *name, uint64_t size)
{
    struct named *named = find_or_add(directory, name, size);
    if (!named)
        return 0;
    if (named->size != size) {
        lw_log(LW_LOG_WARN,
               "web.shared \"%s\": its size was %llu and is %llu now: it begins empty",
               name, (unsigned long long)named->size, (unsigned long long)size);
        named->serial++; /* first: a death in between makes it empty once more */
        __atomic_store_n(&named->size, size, __ATOMIC_RELEASE);
    }
    return named->serial;
}

static uint64_t look_up(const char *name, uint64_t size)
{
    struct directory *directory =
        lw_share_region_begun("tables.1", sizeof(struct directory), begin);
    if (!directory)
        return 0;
    enum lw_robust_result result = lw_robust_take(&directory->lock, WAIT_MS);
    if (result == LW_ROBUST_BUSY)
        return 0;
    if (result == LW_ROBUST_INHERITED)
        lw_robust_repaired(&directory->lock); /* it is whole at any moment */
    uint64_t serial = serial_of(directory, name, size);
    lw_robust_give(&directory->lock);
    return serial;
}

static struct lw_table *remember(const char *name, uint64_t serial, void *memory,
                                 uint64_t size)
{
    for (struct opened *at = all; at; at = at->next)
        at->is_old = at->is_old || strcmp(at->name, name) == 0;
    struct opened *opened = lw_alloc(sizeof *opened);
    *opened = (struct opened){.next = all, .serial = serial};
    memcpy(opened->name, name, strlen(name) + 1);
    opened->table = lw_table_attach(memory, size);
    all = opened;
    return opened->table;
}

struct lw_table *lw_table_open(const char *name, uint64_t size)
{
    char region[96];
    lw_require(strlen(name) <= LUAWEB_SHARED_MAX_NAME);
    uint64_t serial = look_up(name, size);
    if (!serial)
        return NULL;
    for (struct opened *at = all; at; at = at->next) {
        if (at->serial == serial && strcmp(at->name, name) == 0)
            return at->table;
    }
    snprintf(region, sizeof region, "table.1 %s %llu", name,
             (unsigned long long)serial);
    void *memory = lw_share_region_begun(region, size, lw_table_begin);
    return memory ? remember(name, serial, memory, size) : NULL;
}

const char *lw_table_at(uint32_t index, struct lw_table **table)
{
    for (struct opened *at = all; at; at = at->next) {
        if (!at->is_old && index-- == 0) {
            *table = at->table;
            return at->name;
        }
    }
    return NULL;
}
