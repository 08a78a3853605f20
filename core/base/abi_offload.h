/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua: functions that run on the thread pool, in Lua states of
 * their own.  For the rules, see abi.h.
 */

#ifndef LW_BASE_ABI_OFFLOAD_H
#define LW_BASE_ABI_OFFLOAD_H

#include "base/abi.h"

enum luaweb_offload_result {
    LUAWEB_OFFLOAD_WAIT, /* wait for the wake of its id, then ask again */
    LUAWEB_OFFLOAD_DONE, /* the answer is what offload_state.lua has written */
    LUAWEB_OFFLOAD_LOST  /* there was no memory for an answer: it tells why, as text */
};
struct luaweb_offload;

/* Begins what the octets ask for (copied; offload_state.lua reads them).  Lua owns it
 * until it frees it, at any time: in line it is taken out, what runs goes on, and
 * nobody is woken.  NULL: too many wait. */
struct luaweb_offload *luaweb_offload_begin(struct luaweb_host *host, const char *call,
                                            size_t size);
uint32_t luaweb_offload_id(struct luaweb_host *host,
                           const struct luaweb_offload *offload);

/* enum luaweb_offload_result; the answer is lent until it is freed. */
int luaweb_offload_result(struct luaweb_host *host,
                          const struct luaweb_offload *offload,
                          struct luaweb_slice *answer);
void luaweb_offload_free(struct luaweb_host *host, struct luaweb_offload *offload);

/* How many threads may run such functions at once. */
uint32_t luaweb_offload_at_once(struct luaweb_host *host);

#endif
