/* SPDX-License-Identifier: MIT
 *
 * A set of bits a slot: one for each of many topics, by hash.  A process that is woken
 * for a topic that it does not have looks in vain, and no more. */
#include "share/interest.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/require.h"
#include "share/board.h"
#include "share/region.h"

#define BITS  8192
#define WORDS (BITS / 64)

struct shown {
    _Atomic uint64_t slots[LW_MAX_WORKERS][WORDS];
};

static struct shown unshared;
static uint32_t counts[BITS]; /* of this process, by bit */
static int peers[LW_MAX_WORKERS];
static bool is_peer[LW_MAX_WORKERS];

static struct shown *shown(void)
{
    static struct shown *all;
    if (!all)
        all = lw_share_region("interest.1", sizeof *all);
    return all ? all : &unshared;
}

static uint32_t bit_of(const char *topic, size_t size)
{
    uint64_t hash = lw_fnv(topic, size);
    return (uint32_t)((hash ^ hash >> 32) % BITS);
}

void lw_interest_reset(void)
{
    for (uint32_t i = 0; i < WORDS; i++)
        atomic_store(&shown()->slots[lw_board_slot()][i], 0);
}

struct lw_wants {
    uint32_t counts[BITS];
};

struct lw_wants *lw_wants_new(void)
{
    struct lw_wants *wants = lw_alloc(sizeof *wants);
    memset(wants, 0, sizeof *wants);
    return wants;
}

static void drop(uint32_t bit, uint32_t count)
{
    counts[bit] -= count;
    if (count > 0 && counts[bit] == 0)
        atomic_fetch_and(&shown()->slots[lw_board_slot()][bit / 64],
                         ~((uint64_t)1 << bit % 64));
}

void lw_wants_free(struct lw_wants *wants)
{
    for (uint32_t bit = 0; bit < BITS; bit++)
        drop(bit, wants->counts[bit]);
    free(wants);
}

void lw_wants_add(struct lw_wants *wants, const char *topic, size_t size)
{
    uint32_t bit = bit_of(topic, size);
    wants->counts[bit]++;
    if (counts[bit]++ == 0)
        atomic_fetch_or(&shown()->slots[lw_board_slot()][bit / 64],
                        (uint64_t)1 << bit % 64);
}

void lw_wants_drop(struct lw_wants *wants, const char *topic, size_t size)
{
    uint32_t bit = bit_of(topic, size);
    lw_require(wants->counts[bit] > 0);
    wants->counts[bit]--;
    drop(bit, 1);
}

void lw_interest_peer(uint32_t slot, int fd)
{
    if (slot >= LW_MAX_WORKERS) {
        close(fd);
        return;
    }
    if (is_peer[slot])
        close(peers[slot]);
    peers[slot] = fd;
    is_peer[slot] = true;
}

static bool wants(uint32_t slot, uint32_t bit, bool own)
{
    if (!is_peer[slot] || (slot == lw_board_slot() && !own))
        return false;
    return atomic_load(&shown()->slots[slot][bit / 64]) >> bit % 64 & 1;
}

bool lw_interest_is_shown(const char *topic, size_t size, bool own)
{
    uint32_t bit = bit_of(topic, size);
    for (uint32_t slot = 0; slot < LW_MAX_WORKERS; slot++)
        if (wants(slot, bit, own))
            return true;
    return false;
}

uint32_t lw_interest_wake(const char *topic, size_t size, bool own)
{
    uint32_t bit = bit_of(topic, size);
    uint32_t count = 0;
    const uint64_t one = 1;
    for (uint32_t slot = 0; slot < LW_MAX_WORKERS; slot++) {
        if (!wants(slot, bit, own))
            continue;
        if (write(peers[slot], &one, sizeof one) == sizeof one)
            count++;
    }
    return count;
}
