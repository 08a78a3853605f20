/* SPDX-License-Identifier: MIT
 *
 * A duty is a robust lock that is never waited for: the kernel frees it when its process
 * dies, however that comes. */
#include "share/once.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "share/region.h"
#include "share/robust.h"

enum {
    NAME_SIZE = 120, /* with the NUL */
    WAIT_MS = 2000   /* for a process that was stopped while it gave a name */
};

struct duty {
    char name[NAME_SIZE];
    pthread_mutex_t lock;
    _Atomic uint64_t last_ns;
};

struct duties {
    pthread_mutex_t lock; /* of the names */
    uint32_t count;       /* that have one */
    struct duty list[LW_ONCE_DUTIES];
};

static void begin(void *memory, size_t size)
{
    struct duties *all = memory;
    (void)size;
    lw_robust_begin(&all->lock);
    for (int i = 0; i < LW_ONCE_DUTIES; i++)
        lw_robust_begin(&all->list[i].lock);
}

static struct duties *duties(void)
{
    static struct duties *all;
    if (!all)
        all = lw_share_region_begun("once.1", sizeof *all, begin);
    return all;
}

static bool take(pthread_mutex_t *lock, unsigned wait_ms)
{
    enum lw_robust_result result = lw_robust_take(lock, wait_ms);
    if (result == LW_ROBUST_INHERITED)
        lw_robust_repaired(lock); /* there is nothing to repair */
    return result != LW_ROBUST_BUSY;
}

bool lw_once_take(int duty)
{
    return take(&duties()->list[duty].lock, 0);
}

void lw_once_give(int duty)
{
    lw_robust_give(&duties()->list[duty].lock);
}

static void name(struct duty *duty, const char *padded)
{
    memcpy(duty->name, padded, NAME_SIZE);
    atomic_store(&duty->last_ns, 0);
}

/* All are named, most for scripts that were edited since: one that nobody has. */
static int take_over(struct duties *all, const char *padded)
{
    for (int i = 0; i < LW_ONCE_DUTIES; i++) {
        if (!lw_once_take(i))
            continue;
        name(&all->list[i], padded);
        lw_once_give(i);
        return i;
    }
    return -1;
}

/* A death while a name is copied costs that name at most: it counts only afterwards, or
 * is nobody's. */
static int find_or_name(struct duties *all, const char *padded)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (memcmp(all->list[i].name, padded, NAME_SIZE) == 0)
            return (int)i;
    if (all->count == LW_ONCE_DUTIES)
        return take_over(all, padded);
    name(&all->list[all->count], padded);
    return (int)all->count++;
}

int lw_once_duty(const char *text, size_t size)
{
    struct duties *all = duties();
    char padded[NAME_SIZE] = {0};
    if (!all || !take(&all->lock, WAIT_MS))
        return -1;
    if (size >= NAME_SIZE) {
        text += size - (NAME_SIZE - 1);
        size = NAME_SIZE - 1;
    }
    memcpy(padded, text, size);
    int duty = find_or_name(all, padded);
    lw_robust_give(&all->lock);
    return duty;
}

uint64_t lw_once_last(int duty)
{
    return atomic_load(&duties()->list[duty].last_ns);
}

void lw_once_note(int duty, uint64_t now_ns)
{
    atomic_store(&duties()->list[duty].last_ns, now_ns);
}
