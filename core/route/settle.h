/* SPDX-License-Identifier: MIT
 *
 * One template and one text: where exactly do its expressions lie?  Each of them takes
 * as much as it can, from the left.  Calls itself once for each expression. */
#ifndef LW_ROUTE_SETTLE_H
#define LW_ROUTE_SETTLE_H

#include "route/match.h"

/* Fills in match->spans for the template of an entry and the whole of match->text.  The
 * bits of `present` tell which of its expressions have text.
 * False when it does not match, and when more than LW_MATCH_STEPS would be taken, with
 * those that match->steps counts already. */
bool lw_settle(const struct lw_entry *entry, uint32_t present, struct lw_match *match);

#endif
