/* SPDX-License-Identifier: MIT
 *
 * Host names, looked up by the rules of the system (hosts file, search list,
 * nsswitch.conf) on the thread pool, a few at once.  Keeps no results. */
#ifndef LW_NET_NAMES_H
#define LW_NET_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi_client.h"

struct lw_loop;
struct lw_owner;

/* A name that is looked up. */
struct luaweb_lookup;

/* Begins to look a name up; copies it.  The caller owns the result until lw_lookup_free.
 * NULL: the line is full. */
struct luaweb_lookup *lw_lookup_begin(struct lw_loop *loop, struct lw_owner *owner,
                                      const char *name);

/* What is woken when there is a result. */
uint32_t lw_lookup_id(const struct luaweb_lookup *lookup);

/* enum luaweb_lookup_result.  With an end, *text is lent until lw_lookup_free: the
 * numeric addresses, each with a line feed, in the order that the system prefers; or
 * why there are none.  *when is its time in seconds, by uv_hrtime. */
int lw_lookup_result(const struct luaweb_lookup *lookup, struct luaweb_slice *text,
                     double *when);

/* Takes it out of line; false: it runs, or has a result. */
bool lw_lookup_cancel(struct luaweb_lookup *lookup);

/* At any time: what runs goes on, and nobody is woken. */
void lw_lookup_free(struct luaweb_lookup *lookup);

#endif
