/* SPDX-License-Identifier: MIT
 *
 * Which template does a text come from? A text matches when some values of the
 * variables expand to it (RFC 6570 §3).  Where several templates match, they are told
 * apart from the left, segment by segment: literal text (the longest first) goes before
 * expressions (in the order of enum lw_operator), these before the end of the segment,
 * and the end of the text before expressions that have none.  Allocates nothing and
 * calls itself once for each expression on the way, so the depth is that of a
 * template. */
#ifndef LW_ROUTE_MATCH_H
#define LW_ROUTE_MATCH_H

#include "route/span.h"
#include "route/trie.h"

struct lw_match {
    const struct lw_entry *entry; /* that was found; what it has not is of the query */
    int32_t route;                /* likewise its route */
    uint32_t steps;               /* that it took, also when nothing was found */
    struct luaweb_slice text;     /* that was matched; the spans lie in it */
    struct luaweb_slice query;    /* for lw_captures, which see; none unless set */
    struct lw_span spans[16];     /* of the entry's expressions, in order */
};

/* Matches the whole of a text in normal form (lent as long as `match` is used).  False
 * when no template matches, and when that would take more than LW_MATCH_STEPS. */
bool lw_trie_match(const struct lw_trie *trie, struct luaweb_slice text,
                   struct lw_match *match);

/* Counts a step, and more for octets that are looked at one by one.  False: there were
 * enough of them. */
bool lw_match_pay(struct lw_match *match, uint32_t octets);

#endif
