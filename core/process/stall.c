/* SPDX-License-Identifier: MIT
 *
 * Looking at heartbeats.  The time is counted here and not taken from the board: a whole
 * machine that stood still (a paused guest, a debugger) has no worker to blame. */
#include "process/stall.h"

#include <signal.h>
#include <stdatomic.h>
#include <uv.h>

#include "base/log.h"
#include "share/board.h"

/* Beyond the timeout: a worker that finds Lua code at its line says so by itself, within
 * 100 ms of CPU, which another process may have; then it is asked, and ends within a
 * second (LAST_SECONDS in host/watchdog.c). */
#define ASK_MS  500
#define KILL_MS 2000

static void note(struct lw_stall *stall, const struct lw_slot *slot, uint64_t now)
{
    uint64_t turn = atomic_load_explicit(&slot->turn_began_ms, memory_order_relaxed);
    uint32_t pulled = atomic_load_explicit(&slot->pulled, memory_order_relaxed);
    uint64_t passed = now - stall->looked_ms;
    bool moves = turn == 0 || turn != stall->turn_ms || pulled != stall->pulled;
    if (moves)
        *stall = (struct lw_stall){.turn_ms = turn, .pulled = pulled};
    else
        stall->still_ms += passed < LW_STALL_LOOK_MS ? passed : LW_STALL_LOOK_MS;
    stall->looked_ms = now;
}

static void ask(struct lw_stall *stall, uint32_t slot, pid_t pid)
{
    stall->is_asked = true;
    lw_log(LW_LOG_ERROR,
           "worker %u (process %d) stands still for %.1f s: it has to end", slot,
           (int)pid, (double)stall->still_ms / 1000);
    kill(pid, LW_SIGNAL_STALLED);
}

static void end(struct lw_stall *stall, uint32_t slot, pid_t pid)
{
    stall->is_killed = true;
    lw_log(LW_LOG_ERROR, "worker %u (process %d) does not end: killed", slot, (int)pid);
    kill(pid, SIGKILL);
}

uint64_t lw_stall_look(struct lw_stall *stall, uint32_t slot, pid_t pid,
                       uint64_t timeout_ms)
{
    note(stall, &lw_board()->slots[slot], uv_hrtime() / 1000000);
    if (timeout_ms == 0)
        return stall->still_ms;
    if (!stall->is_asked && stall->still_ms >= timeout_ms + ASK_MS)
        ask(stall, slot, pid);
    if (!stall->is_killed && stall->still_ms >= timeout_ms + KILL_MS)
        end(stall, slot, pid);
    return stall->still_ms;
}
