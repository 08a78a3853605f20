/* SPDX-License-Identifier: MIT
 *
 * The board: what workers show of themselves, in shared memory.  Each writes its own
 * slot only, with relaxed stores; master and others read.  Nothing here is trusted
 * for more than to look. */
#ifndef LW_SHARE_BOARD_H
#define LW_SHARE_BOARD_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of one server; and the slots: a new executable has as many beside them at an upgrade. */
#define LW_WORKERS_MOST 64
#define LW_MAX_WORKERS  128

enum lw_slot_state {
    LW_SLOT_EMPTY,   /* no process */
    LW_SLOT_LOADING, /* its first generation */
    LW_SLOT_READY,   /* accepts */
    LW_SLOT_DRAINING /* ends */
};

struct lw_slot {
    _Alignas(128) _Atomic int32_t pid;
    _Atomic uint32_t state;      /* enum lw_slot_state */
    _Atomic uint32_t generation; /* that serves */
    _Atomic uint32_t conn_count;
    _Atomic uint32_t given_count; /* connections that others are giving it */
    /* Milliseconds of CLOCK_MONOTONIC when the turn began that runs; 0: it waits for
     * octets.  The heartbeat: an old one means that the loop stands still. */
    _Atomic uint64_t turn_began_ms;
    _Atomic uint32_t pulled; /* events that Lua has taken: it changes while it works */
};

/* Asks a worker whose turn does not end to say what it does, and to end. */
#define LW_SIGNAL_STALLED (SIGRTMIN + 1)

struct lw_board {
    _Atomic uint32_t worker_count; /* slots in use */
    struct lw_slot slots[LW_MAX_WORKERS];
};

/* For how many milliseconds the loop of this slot has not come around; 0: it waits for
 * octets. */
uint64_t lw_slot_still_ms(const struct lw_slot *slot);

/* The board, after lw_share_open; never NULL. */
struct lw_board *lw_board(void);

/* The slot of this process, set once by who starts it; a slot of its own, which nobody
 * sees, until then. */
struct lw_slot *lw_board_own(void);
void lw_board_take(uint32_t slot);

/* The number of this process's slot, from 0. */
uint32_t lw_board_slot(void);

#endif
