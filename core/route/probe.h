/* SPDX-License-Identifier: MIT
 *
 * Does a template ever win?  Tries paths of its own, with values that no literal text
 * has: a template that loses all of them to others can't be reached.  Runs while an app
 * loads. */
#ifndef LW_ROUTE_PROBE_H
#define LW_ROUTE_PROBE_H

#include "route/match.h"

/* Whether some path of the entry, which is one of the trie's, leads to it.  If not,
 * `winner` is the route that took one of them. */
bool lw_probe_wins(const struct lw_trie *trie, const struct lw_entry *entry,
                   int32_t *winner);

#endif
