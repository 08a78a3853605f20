/* SPDX-License-Identifier: MIT
 *
 * Adding what is new. */
#include "host/counts.h"

#include "share/metrics.h"

static double jobs_of(const struct luaweb_counts *counts)
{
    return counts->jobs_started - counts->jobs_ended;
}

static void tell(struct lw_host_counts *counts)
{
    struct lw_metrics_slot *slot = lw_metrics_own();
    const struct luaweb_counts *now = &counts->now;
    const struct luaweb_counts *told = &counts->told;
    lw_metrics_add(slot, LW_METRIC_JOBS, jobs_of(now) - jobs_of(told));
    lw_metrics_add(slot, LW_METRIC_JOBS_STARTED,
                   now->jobs_started - told->jobs_started);
    lw_metrics_add(slot, LW_METRIC_JOBS_FAILED, now->jobs_failed - told->jobs_failed);
    lw_metrics_add(slot, LW_METRIC_JOB_ERRORS, now->job_errors - told->job_errors);
    lw_metrics_add(slot, LW_METRIC_HANDLER_ERRORS,
                   now->handler_errors - told->handler_errors);
    lw_metrics_add(slot, LW_METRIC_TRACES, now->traces - told->traces);
    lw_metrics_add(slot, LW_METRIC_TRACE_ABORTS,
                   now->trace_aborts - told->trace_aborts);
    lw_metrics_add(slot, LW_METRIC_TRACE_FLUSHES,
                   now->trace_flushes - told->trace_flushes);
    counts->told = *now;
}

void lw_host_counts_tell(struct lw_host_counts *counts)
{
    if (counts->now.changes != counts->told.changes)
        tell(counts);
}

void lw_host_counts_close(struct lw_host_counts *counts)
{
    tell(counts);
    lw_metrics_add(lw_metrics_own(), LW_METRIC_JOBS, -jobs_of(&counts->told));
    lw_page_free(&counts->page);
}
