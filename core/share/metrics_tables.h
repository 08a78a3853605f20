/* SPDX-License-Identifier: MIT
 *
 * The numbers of shared tables (web.shared) for the page of metrics. */
#ifndef LW_SHARE_METRICS_TABLES_H
#define LW_SHARE_METRICS_TABLES_H

#include "share/page.h"

/* Adds them, each with the table's name as a label. */
void lw_metrics_write_tables(struct lw_page *page);

#endif
