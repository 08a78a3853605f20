/* SPDX-License-Identifier: MIT
 *
 * What a Lua state counts of itself, on its way into the process's slot: two states of a
 * worker count there together. */
#ifndef LW_HOST_COUNTS_H
#define LW_HOST_COUNTS_H

#include "base/abi_metrics.h"
#include "share/page.h"

/* Zeroed, it is ready. */
struct lw_host_counts {
    struct luaweb_counts now;  /* written by Lua */
    struct luaweb_counts told; /* what is in the slot of it */
    struct lw_page page;       /* of luaweb_metrics */
};

/* A turn of Lua is over. */
void lw_host_counts_tell(struct lw_host_counts *counts);

/* The Lua state is closed: nothing of it runs any more. */
void lw_host_counts_close(struct lw_host_counts *counts);

#endif
