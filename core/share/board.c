/* SPDX-License-Identifier: MIT
 *
 * The board's region, and the slot that this process writes. */
#include "share/board.h"

#include <assert.h>
#include <stddef.h>
#include <time.h>

#include "base/require.h"
#include "share/region.h"

static_assert(LW_MAX_WORKERS == 2 * LW_WORKERS_MOST, "two executables have room");

/* What nobody else sees: the slot before one is taken, and the board where there is no
 * shared memory. */
static struct lw_slot alone;
static struct lw_board unshared;

static struct lw_board *board;
static struct lw_slot *own = &alone;
static uint32_t own_number;

uint64_t lw_slot_still_ms(const struct lw_slot *slot)
{
    uint64_t began = atomic_load_explicit(&slot->turn_began_ms, memory_order_relaxed);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    return began > 0 && began < now_ms ? now_ms - began : 0;
}

struct lw_board *lw_board(void)
{
    if (!board)
        board = lw_share_region("board.1", sizeof(struct lw_board));
    return board ? board : &unshared;
}

struct lw_slot *lw_board_own(void)
{
    return own;
}

void lw_board_take(uint32_t slot)
{
    lw_require(slot < LW_MAX_WORKERS);
    own = &lw_board()->slots[slot];
    own_number = slot;
}

uint32_t lw_board_slot(void)
{
    return own_number;
}
