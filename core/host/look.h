/* SPDX-License-Identifier: MIT
 *
 * Reading what was noted of a walk, for abi_explain.c and abi_dev.c. */
#ifndef LW_HOST_LOOK_H
#define LW_HOST_LOOK_H

#include <stdbool.h>

#include "base/abi_explain.h"
#include "machine/walk.h"

/* Whether a walk was noted, and was one through an app of this host. */
bool lw_look_is_own(const struct luaweb_host *host, const struct lw_trace *trace);

/* Forgets what was noted of walks through its apps, which are about to be freed. */
void lw_look_forget(struct luaweb_host *host);

/* Writes its answers, at most `capacity`, and its end.  Gives how many there are. */
uint32_t lw_look_read(const struct luaweb_host *host, const struct lw_trace *trace,
                      struct luaweb_traced *answers, uint32_t capacity,
                      struct luaweb_ending *ending);

#endif
