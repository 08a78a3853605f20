/* SPDX-License-Identifier: MIT
 *
 * How a server is: written for people or as one line of JSON.  The workers are read
 * from the board. */
#ifndef LW_PROCESS_STATUS_H
#define LW_PROCESS_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* All borrowed. */
struct lw_status {
    const char *state;            /* "starting", "running", "reloading" or "stopping" */
    const char *app;              /* the script */
    const char *const *listeners; /* addresses, as people write them */
    uint32_t listener_count;
    uint32_t first_slot; /* of the workers, on the board */
    uint32_t worker_count;
    uint32_t generation; /* that serves; 0: none yet */
    uint32_t reloads;    /* that succeeded */
    uint32_t failed_reloads;
    uint32_t restarts; /* of workers that ended without being told to */
    uint64_t uptime_ms;
};

/* Lines for people. */
void lw_status_print(FILE *out, const struct lw_status *status);

/* One line: {"version", "pid", "state", "app", "uptime" (seconds), "generation",
 * "reloads", "failed_reloads", "restarts", "listeners": [...], "workers": [{"worker",
 * "pid", "state", "generation", "connections", "busy" (seconds of its turn)}]}.
 * Workers have the numbers of the log, from 1. */
void lw_status_print_json(FILE *out, const struct lw_status *status);

#endif
