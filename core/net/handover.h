/* SPDX-License-Identifier: MIT
 *
 * Connections that a worker has accepted and gives to another, which has clearly fewer:
 * the system spreads them by a hash, so by chance.  Each slot has a pair of sockets for
 * that; what was given to a worker that ends is its successor's.
 *
 * Those that are open already stay where they are.  Where a worker has far more than
 * another, which was not there when they came, some of its answers end their connections:
 * their clients come again and find the other. */
#ifndef LW_NET_HANDOVER_H
#define LW_NET_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

/* In the place of a listener's number: the end by which connections are given to us. */
#define LW_LISTENER_GIVEN UINT32_MAX

struct lw_loop;

/* The end by which connections can be given to the worker of this slot; taken. */
void lw_handover_add(struct lw_loop *loop, uint32_t slot, int end);

void lw_handover_destruct(struct lw_loop *loop);

/* Gives an accepted connection away where that is good.  false: it stays ours. */
bool lw_handover_give(struct lw_loop *loop, int fd);

/* Whether this answer should end its connection, which is asked once for each. */
bool lw_handover_sheds(struct lw_loop *loop);

/* The next connection that was given to the worker of `slot`, closed on exec, the
 * caller's; -1 and errno where there is none. */
int lw_handover_take(int end, uint32_t slot);

#endif
