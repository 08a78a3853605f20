/* SPDX-License-Identifier: MIT
 *
 * Counting workers by their state. */
#include "share/health.h"

void lw_health_look(struct lw_health *health)
{
    const struct lw_board *board = lw_board();
    *health = (struct lw_health){.is_ready = false};
    for (uint32_t i = 0; i < LW_MAX_WORKERS; i++) {
        uint32_t state = atomic_load(&board->slots[i].state);
        if (state <= LW_SLOT_DRAINING)
            health->workers[state]++;
    }
    health->is_ready = health->workers[LW_SLOT_READY] > 0;
}

void lw_health_write(struct lw_page *page, const struct lw_health *health)
{
    const uint32_t *workers = health->workers;
    const char *status = health->is_ready                ? "ready"
                         : workers[LW_SLOT_DRAINING] > 0 ? "draining"
                         : workers[LW_SLOT_LOADING] > 0  ? "loading"
                                                         : "down";
    lw_page_add(page,
                "{\"status\":\"%s\",\"workers\":{\"ready\":%u,\"loading\":%u,"
                "\"draining\":%u}}\n",
                status, workers[LW_SLOT_READY], workers[LW_SLOT_LOADING],
                workers[LW_SLOT_DRAINING]);
}
