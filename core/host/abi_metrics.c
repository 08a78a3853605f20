/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions about what is counted (base/abi_metrics.h): for the
 * rules, see abi.c. */
#include "base/abi_metrics.h"
#include "base/slice.h"
#include "host/vm.h"
#include "share/metrics_text.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT struct luaweb_counts *luaweb_counts(struct luaweb_host *host)
{
    return &host->counts.now;
}

EXPORT void luaweb_metrics(struct luaweb_host *host, struct luaweb_slice *text,
                           struct luaweb_slice *type)
{
    struct lw_page *page = &host->counts.page;
    page->size = 0;
    lw_metrics_write(page);
    *text = lw_slice(page->data, page->size);
    *type = LW_SLICE(LW_METRICS_TYPE);
}
