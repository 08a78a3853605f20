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
    WAIT_MS = 2000, /* to open one */
    LOOK_MS = 5     /* to look at them */
};

struct named {
    char name[LUAWEB_SHARED_MAX_NAME + 1];
    uint64_t size;
    uint64_t size_before; /* of the one whose serial is one less */
    uint64_t serial;      /* counts sizes */
};

struct directory {
    pthread_mutex_t lock;
    uint32_t count;
    struct named list[MAX_TABLES];
};

/* Those that this process has opened, of all sizes. */
struct opened {
    struct opened *next;
    struct lw_table *table;
    uint64_t serial;
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

static void *memory_of(const char *name, uint64_t serial, uint64_t size)
{
    char region[96];
    snprintf(region, sizeof region, "table.1 %s %llu", name,
             (unsigned long long)serial);
    return lw_share_region_begun(region, size, lw_table_begin);
}

/* The one before may still be used, by a generation that ends; the one before that is
 * not worth its memory any more. */
static void release_old(const struct named *named)
{
    if (named->serial < 2)
        return;
    void *memory = memory_of(named->name, named->serial - 1, named->size_before);
    if (!memory)
        return;
    struct lw_table *table = lw_table_attach(memory, named->size_before);
    lw_table_release(table);
    lw_table_detach(table);
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
        release_old(named);
        named->size_before = named->size;
        named->serial++; /* first: a death in between makes it empty once more */
        __atomic_store_n(&named->size, size, __ATOMIC_RELEASE);
    }
    return named->serial;
}

/* The directory with its lock taken; NULL: there is none. */
static struct directory *enter(unsigned wait_ms)
{
    struct directory *directory =
        lw_share_region_begun("tables.1", sizeof(struct directory), begin);
    if (!directory)
        return NULL;
    enum lw_robust_result result = lw_robust_take(&directory->lock, wait_ms);
    if (result == LW_ROBUST_INHERITED)
        lw_robust_repaired(&directory->lock); /* it is whole at any moment */
    return result == LW_ROBUST_BUSY ? NULL : directory;
}

static struct lw_table *remember(const char *name, uint64_t serial, void *memory,
                                 uint64_t size)
{
    struct opened *opened = lw_alloc(sizeof *opened);
    *opened = (struct opened){.next = all, .serial = serial};
    memcpy(opened->name, name, strlen(name) + 1);
    opened->table = lw_table_attach(memory, size);
    all = opened;
    return opened->table;
}

static struct lw_table *open_serial(const char *name, uint64_t serial, uint64_t size)
{
    for (struct opened *at = all; at; at = at->next) {
        if (at->serial == serial && strcmp(at->name, name) == 0)
            return at->table;
    }
    void *memory = memory_of(name, serial, size);
    return memory ? remember(name, serial, memory, size) : NULL;
}

void lw_tables_forget(void)
{
    while (all) {
        struct opened *opened = all;
        all = opened->next;
        lw_table_detach(opened->table);
        free(opened);
    }
}

struct lw_table *lw_table_open(const char *name, uint64_t size)
{
    lw_require(strlen(name) <= LUAWEB_SHARED_MAX_NAME);
    struct directory *directory = enter(WAIT_MS);
    if (!directory)
        return NULL;
    uint64_t serial = serial_of(directory, name, size);
    lw_robust_give(&directory->lock);
    return serial ? open_serial(name, serial, size) : NULL;
}

struct lw_table *lw_table_at(uint32_t index, char name[LUAWEB_SHARED_MAX_NAME + 1])
{
    struct directory *directory = enter(LOOK_MS);
    struct named named = {.serial = 0};
    if (!directory)
        return NULL;
    if (index < directory->count)
        named = directory->list[index];
    lw_robust_give(&directory->lock);
    memcpy(name, named.name, sizeof named.name);
    return named.serial ? open_serial(named.name, named.serial, named.size) : NULL;
}
