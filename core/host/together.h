/* SPDX-License-Identifier: MIT
 *
 * A host's part in what all workers do together: its place in the bus, and the duties
 * that it has. */
#ifndef LW_HOST_TOGETHER_H
#define LW_HOST_TOGETHER_H

#include <stdbool.h>
#include <stdint.h>

#include "share/once.h"
#include "share/ring.h"

struct lw_loop;
struct lw_owner;
struct lw_wants;

struct lw_together {
    struct lw_ring *ring; /* NULL: not opened yet */
    uint64_t sender;      /* this host, among all of all workers */
    uint64_t at;          /* where it reads on */
    struct lw_ring_room room;
    uint32_t id;            /* that is woken; LW_NO_ID: it reads nothing */
    struct lw_wants *wants; /* owned; NULL: nothing yet */
    bool has_duty[LW_ONCE_DUTIES];
};

void lw_together_construct(struct lw_together *together);

/* Opens the ring, once.  false: there is no room for it. */
bool lw_together_open(struct lw_together *together);

/* Begins to read: the id that is woken, which is the owner's. */
uint32_t lw_together_read(struct lw_together *together, struct lw_loop *loop,
                          struct lw_owner *owner);

/* Whether other hosts of this process read, too. */
bool lw_together_has_others(const struct lw_together *together);

/* Reads no more, and gives all duties back. */
void lw_together_destruct(struct lw_together *together, struct lw_loop *loop);

#endif
