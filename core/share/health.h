/* SPDX-License-Identifier: MIT
 *
 * Whether the server can take requests, as the board shows it. */
#ifndef LW_SHARE_HEALTH_H
#define LW_SHARE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "share/board.h"
#include "share/page.h"

#define LW_HEALTH_TYPE "application/json"

struct lw_health {
    uint32_t workers[LW_SLOT_DRAINING + 1]; /* by enum lw_slot_state */
    bool is_ready;                          /* one of them accepts */
};

void lw_health_look(struct lw_health *health);

/* Adds it as JSON: {"status":"ready","workers":{"ready":2,"loading":0,"draining":0}};
 * "loading" and "draining" where none is ready, "down" where there is no worker. */
void lw_health_write(struct lw_page *page, const struct lw_health *health);

#endif
