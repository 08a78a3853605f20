/* SPDX-License-Identifier: MIT
 *
 * Robust locks are POSIX's; what is added is the bound on waiting.  A process that is
 * stopped (SIGSTOP, a debugger) while it holds one does not die, so nobody inherits. */
#include "share/robust.h"

#include <errno.h>
#include <time.h>

#include "base/require.h"

enum {
    SPINS = 200 /* some microseconds: what is done under such locks takes less */
};

int lw_robust_begin(pthread_mutex_t *lock)
{
    pthread_mutexattr_t how;
    int error = pthread_mutexattr_init(&how);
    if (error)
        return -error;
    pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    error = pthread_mutex_init(lock, &how);
    pthread_mutexattr_destroy(&how);
    return -error;
}

static int wait_for(pthread_mutex_t *lock, unsigned wait_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &until);
}

static void pause_a_moment(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

enum lw_robust_result lw_robust_take(pthread_mutex_t *lock, unsigned wait_ms)
{
    int error = pthread_mutex_trylock(lock);
    for (int i = 0; error == EBUSY && wait_ms && i < SPINS; i++) {
        pause_a_moment();
        error = pthread_mutex_trylock(lock);
    }
    if (error == EBUSY && wait_ms)
        error = wait_for(lock, wait_ms);
    if (error == 0)
        return LW_ROBUST_HELD;
    return error == EOWNERDEAD ? LW_ROBUST_INHERITED : LW_ROBUST_BUSY;
}

void lw_robust_repaired(pthread_mutex_t *lock)
{
    int error = pthread_mutex_consistent(lock);
    lw_require(!error);
}

void lw_robust_give(pthread_mutex_t *lock)
{
    int error = pthread_mutex_unlock(lock);
    lw_require(!error);
}
