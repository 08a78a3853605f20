/* SPDX-License-Identifier: MIT
 *
 * Functions of the app that run on the thread pool, each in one of a few Lua states,
 * which are kept for the next ones.  Bounded in number (net/work.h,
 * LW_WORK_OFFLOAD). */
#ifndef LW_HOST_OFFLOAD_H
#define LW_HOST_OFFLOAD_H

#include <stdint.h>
#include <uv.h>

#include "base/abi_offload.h"

struct lw_loop;
struct lw_offload_state;

/* The states, taken and given back by threads of the pool. */
struct lw_offloads {
    struct lw_loop *loop;
    struct lw_owner *owner;           /* whom their ends wake */
    uv_mutex_t mutex;                 /* over what follows */
    struct lw_offload_state *idle[8]; /* at least as many as may run at once */
    uint32_t idle_count;
    uint32_t count; /* of offloads; the loop's thread only */
};

void lw_offloads_construct(struct lw_offloads *offloads, struct lw_loop *loop,
                           struct lw_owner *owner);

/* Closes the states; nothing may run any more. */
void lw_offloads_destruct(struct lw_offloads *offloads);

/* The bodies of base/abi_offload.h. */
struct luaweb_offload *lw_offload_begin(struct lw_offloads *offloads, const char *call,
                                        size_t size);
uint32_t lw_offload_id(const struct luaweb_offload *offload);
int lw_offload_result(const struct luaweb_offload *offload,
                      struct luaweb_slice *answer);
void lw_offload_free(struct luaweb_offload *offload);

#endif
