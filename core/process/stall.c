/* SPDX-License-Identifier: MIT
 *
 * Looking at heartbeats.  The time is counted here and not taken from the board:
 * when the whole machine stood still (a paused guest), no worker is to blame.  A
 * turn is long without blame, too, while Lua goes on taking events. */
#include "process/stall.h"

#include <signal.h>
#include <stdatomic.h>
#include <uv.h>

#include "base/log.h"

#define LOOK_MS 500 /* between two looks; more means that nobody looked */

/* Beyond the timeout.  A worker that finds Lua code at its line says so by itself,
 * within 100 ms of CPU, of which it may have half; then it is asked, and ends within
 * a second (LAST_SECONDS in host/watchdog.c). */
#define ASK_MS  300
#define KILL_MS 2000

static void note(struct lw_stall *stall, const struct lw_slot *slot, uint64_t now)
{
    uint64_t turn = atomic_load_explicit(&slot->turn_began_ms, memory_order_relaxed);
    uint32_t pulled = atomic_load_explicit(&slot->pulled, memory_order_relaxed);
    uint64_t passed = now - stall->looked_ms;
    if (turn == 0 || turn != stall->turn_ms || pulled != stall->pulled)
        *stall = (struct lw_stall){.turn_ms = turn, .pulled = pulled};
    else
        stall->still_ms += passed < LOOK_MS ? passed : LOOK_MS;
    stall->looked_ms = now;
}

bool lw_stall_look(struct lw_stall *stall, const struct lw_slot *slot, uint32_t number,
                   pid_t pid, uint64_t timeout_ms)
{
    note(stall, slot, uv_hrtime() / 1000000);
    if (timeout_ms == 0)
        return false;
    bool is_now = !stall->is_asked && stall->still_ms >= timeout_ms + ASK_MS;
    if (is_now) {
        stall->is_asked = true;
        lw_log(LW_LOG_ERROR,
               "worker %u (pid %d) has stood still for %.1f s (--stall-timeout) and "
               "is ended",
               number + 1, (int)pid, (double)stall->still_ms / 1000);
        kill(pid, LW_SIGNAL_STALLED);
    }
    if (!stall->is_killed && stall->still_ms >= timeout_ms + KILL_MS) {
        stall->is_killed = true;
        lw_log(LW_LOG_ERROR, "worker %u (pid %d) does not end: killed", number + 1,
               (int)pid);
        kill(pid, SIGKILL);
    }
    return is_now;
}
