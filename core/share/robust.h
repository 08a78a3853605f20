/* SPDX-License-Identifier: MIT
 *
 * A lock in shared memory that outlives its holder: when one dies, the next is told. */
#ifndef LW_SHARE_ROBUST_H
#define LW_SHARE_ROBUST_H

#include <pthread.h>
#include <stdbool.h>

/* Makes a lock of zeroed memory.  0 or a negative errno. */
int lw_robust_begin(pthread_mutex_t *lock);

enum lw_robust_result {
    LW_ROBUST_HELD,
    LW_ROBUST_INHERITED, /* held; its holder died: repair, then lw_robust_repaired */
    LW_ROBUST_BUSY       /* not held: somebody holds it for longer than wait_ms */
};

/* Takes the lock; spins for a moment before it sleeps.  wait_ms 0: does neither. */
enum lw_robust_result lw_robust_take(pthread_mutex_t *lock, unsigned wait_ms);

void lw_robust_repaired(pthread_mutex_t *lock);

void lw_robust_give(pthread_mutex_t *lock);

#endif
