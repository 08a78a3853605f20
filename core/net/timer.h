/* SPDX-License-Identifier: MIT
 *
 * One-shot timers that wake a number.  Pooled; the number is free again once its
 * wake has reached Lua. */
#ifndef LW_NET_TIMER_H
#define LW_NET_TIMER_H

#include <stdint.h>

struct lw_loop;
struct lw_owner;

/* Wakes the returned id, which is its owner's, after this time. */
uint32_t lw_timer_start(struct lw_loop *loop, struct lw_owner *owner, double seconds);

/* Its wake has reached Lua: the number is free again.  Other numbers are left alone. */
void lw_timer_woke(struct lw_loop *loop, uint32_t id);

/* Stops one; where its wake is on its way already, it comes and finds nobody. */
void lw_timer_stop(struct lw_loop *loop, uint32_t id);

/* Milliseconds until it is due; 0 where it was, or there is none. */
uint64_t lw_timer_left_ms(const struct lw_loop *loop, uint32_t id);

/* Stops all of an owner, also those whose wakes are on their way. */
void lw_timer_stop_all(struct lw_loop *loop, struct lw_owner *owner);

/* Frees the pool, at the end of the loop; none is running any more. */
void lw_timer_close_all(struct lw_loop *loop);

#endif
