/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua: what is counted.  For the rules, see abi.h.
 */

#ifndef LW_BASE_ABI_METRICS_H
#define LW_BASE_ABI_METRICS_H

#include "base/abi.h"

/* What a Lua state counts of itself, since its start; whole numbers.  Lua raises them,
 * and `changes` with them; C looks at the end of a turn. */
struct luaweb_counts {
    double changes;
    double jobs_started;
    double jobs_ended;
    double jobs_failed;
    double job_errors;     /* that nobody waited for */
    double handler_errors; /* that nobody caught */
    double traces;         /* that the JIT has compiled */
    double trace_aborts;
    double trace_flushes;
};

/* Those of the host, lent as long as it lives. */
struct luaweb_counts *luaweb_counts(struct luaweb_host *host);

/* All that the server counts as the text that Prometheus reads, and its media type; lent
 * until the next call. */
void luaweb_metrics(struct luaweb_host *host, struct luaweb_slice *text,
                    struct luaweb_slice *type);

#endif
