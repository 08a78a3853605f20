/* SPDX-License-Identifier: MIT
 *
 * Workers whose loop stands still, as the master sees them: by the heartbeat on the
 * board.  One that stands still for --stall-timeout is asked to say what holds it up
 * and to end (host/watchdog.h); one that does not end is killed.  To replace it is
 * for who sees its end. */
#ifndef LW_PROCESS_STALL_H
#define LW_PROCESS_STALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "share/board.h"

/* What is known of one worker; zeroed when it is started. */
struct lw_stall {
    uint64_t looked_ms; /* when it was looked at last */
    uint64_t turn_ms;   /* the turn that ran then; 0: none */
    uint32_t pulled;    /* and how far it was */
    uint64_t still_ms;  /* for how long nothing has moved */
    bool is_asked;
    bool is_killed;
};

/* Looks at worker `number` (from 0), whose slot this is.  To be called again and again,
 * while it has loaded its app.  true: it was told to end, now; timeout_ms 0: never. */
bool lw_stall_look(struct lw_stall *stall, const struct lw_slot *slot, uint32_t number,
                   pid_t pid, uint64_t timeout_ms);

#endif
