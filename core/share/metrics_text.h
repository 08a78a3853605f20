/* SPDX-License-Identifier: MIT
 *
 * All that a server counts as the text that Prometheus reads (exposition format
 * 0.0.4). */
#ifndef LW_SHARE_METRICS_TEXT_H
#define LW_SHARE_METRICS_TEXT_H

#include "share/page.h"

#define LW_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Adds the text to a page. */
void lw_metrics_write(struct lw_page *page);

#endif
