/* SPDX-License-Identifier: MIT
 *
 * A duty is a robust lock that is never waited for: the kernel frees it when its process
 * dies, however that comes. */
#include "share/once.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "share/region.h"

#define NAME_SIZE 120

enum {
    FREE,
    BEING_MADE,
    MADE
};

struct duty {
    _Atomic uint32_t state;
    char name[NAME_SIZE]; /* NUL behind it */
    pthread_mutex_t lock;
    _Atomic uint64_t last_ns;
};

struct duties {
    struct duty list[LW_ONCE_DUTIES];
};

static struct duties *duties(void)
{
    static struct duties *all;
    if (!all)
        all = lw_share_region("once.1", sizeof *all);
    return all;
}

static void make(struct duty *duty, const char *name)
{
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&duty->lock, &how);
    pthread_mutexattr_destroy(&how);
    memcpy(duty->name, name, NAME_SIZE);
    atomic_store(&duty->state, MADE);
}

/* Waits for another process that makes this one just now; one that died over it leaves
 * it as it is, and others go on behind it. */
static bool is_named(const struct duty *duty, const char *name)
{
    for (int i = 0; i < 1000000 && atomic_load(&duty->state) == BEING_MADE; i++)
        continue;
    return atomic_load(&duty->state) == MADE
           && memcmp(duty->name, name, NAME_SIZE) == 0;
}

bool lw_once_take(int duty)
{
    struct duty *one = &duties()->list[duty];
    int error = pthread_mutex_trylock(&one->lock);
    if (error == EOWNERDEAD)
        error = pthread_mutex_consistent(&one->lock);
    return error == 0;
}

void lw_once_give(int duty)
{
    pthread_mutex_unlock(&duties()->list[duty].lock);
}

/* All are named, most for scripts that were edited since: one that nobody has. */
static int take_over(struct duties *all, const char *name)
{
    for (int i = 0; i < LW_ONCE_DUTIES; i++) {
        if (!lw_once_take(i))
            continue;
        memcpy(all->list[i].name, name, NAME_SIZE);
        atomic_store(&all->list[i].last_ns, 0);
        lw_once_give(i);
        return i;
    }
    return -1;
}

int lw_once_duty(const char *name, size_t size)
{
    struct duties *all = duties();
    char padded[NAME_SIZE] = {0};
    if (!all)
        return -1;
    if (size >= NAME_SIZE) {
        name += size - (NAME_SIZE - 1);
        size = NAME_SIZE - 1;
    }
    memcpy(padded, name, size);
    for (int i = 0; i < LW_ONCE_DUTIES; i++) {
        struct duty *duty = &all->list[i];
        uint32_t none = FREE;
        if (atomic_compare_exchange_strong(&duty->state, &none, BEING_MADE)) {
            make(duty, padded);
            return i;
        }
        if (is_named(duty, padded))
            return i;
    }
    return take_over(all, padded);
}

uint64_t lw_once_last(int duty)
{
    return atomic_load(&duties()->list[duty].last_ns);
}

void lw_once_note(int duty, uint64_t now_ns)
{
    atomic_store(&duties()->list[duty].last_ns, now_ns);
}
