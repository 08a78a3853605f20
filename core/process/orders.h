/* SPDX-License-Identifier: MIT
 *
 * A worker's side of the channel: what the master orders is done, and it is told what
 * came of it.  Without a master nothing happens here. */
#ifndef LW_PROCESS_ORDERS_H
#define LW_PROCESS_ORDERS_H

#include <stddef.h>
#include <stdint.h>

#include "process/channel.h"

struct lw_worker;

/* Follows orders from now on.  A master that is gone is an order to drain. */
void lw_orders_watch(struct lw_worker *worker);

/* Tells the master of a generation. */
void lw_orders_tell(struct lw_worker *worker, enum lw_message_kind kind,
                    uint32_t generation);
void lw_orders_tell_loaded(struct lw_worker *worker, uint32_t generation,
                           uint32_t workers, const char *routes, size_t size);
void lw_orders_tell_failure(struct lw_worker *worker, uint32_t generation, int code,
                            const char *why, size_t size);

/* Asks for a reload. */
void lw_orders_wish_reload(struct lw_worker *worker, const char *why, size_t size);

#endif
