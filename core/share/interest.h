/* SPDX-License-Identifier: MIT
 *
 * Who wants what: each process shows which topics it has subscribers for, roughly, and
 * whoever has something for a topic wakes those processes only. */
#ifndef LW_SHARE_INTEREST_H
#define LW_SHARE_INTEREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shows nothing any more: at the start of a process, whose slot another one had. */
void lw_interest_reset(void);

/* What one Lua state of the process wants.  To free it is to want nothing any more. */
struct lw_wants;
struct lw_wants *lw_wants_new(void);
void lw_wants_free(struct lw_wants *wants);

/* Shows one more that wants this topic, or one less, which was shown. */
void lw_wants_add(struct lw_wants *wants, const char *topic, size_t size);
void lw_wants_drop(struct lw_wants *wants, const char *topic, size_t size);

/* The eventfd by which the process of a slot is woken, which is ours from now on. */
void lw_interest_peer(uint32_t slot, int fd);

/* Whether another process wants the topic (with `own`: or this one). */
bool lw_interest_is_shown(const char *topic, size_t size, bool own);

/* Wakes those processes: how many there are. */
uint32_t lw_interest_wake(const char *topic, size_t size, bool own);

#endif
