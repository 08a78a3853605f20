/* SPDX-License-Identifier: MIT
 *
 * Workers whose loop stands still, as the master sees them: by the heartbeat on the
 * board (share/board.h).  One that stands still for --stall-timeout is asked to say what
 * holds it up and to end (host/watchdog.h); one that doesn't is killed.  To replace it is
 * for who sees that it has ended. */
#ifndef LW_PROCESS_STALL_H
#define LW_PROCESS_STALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What is known of one slot; zeroed when a worker is put there. */
struct lw_stall {
    uint64_t looked_ms; /* when it was looked at last */
    uint64_t turn_ms;   /* the turn that ran then; 0: none */
    uint32_t pulled;    /* and how far it was */
    uint64_t still_ms;  /* for how long nothing has moved */
    bool is_asked;
    bool is_killed;
};

/* Looks at the worker `pid` in this slot, and gives for how many milliseconds its loop
 * has stood still.  To be called at least every LW_STALL_LOOK_MS for each worker that has
 * loaded its app: what lies further apart counts as that, for then it is the master that
 * did not run.  timeout_ms 0: nothing is done. */
#define LW_STALL_LOOK_MS 100
uint64_t lw_stall_look(struct lw_stall *stall, uint32_t slot, pid_t pid,
                       uint64_t timeout_ms);

#endif
