/* SPDX-License-Identifier: MIT
 *
 * C's answers to questions of the graph, from the head of the request and the machine's
 * properties: LUAWEB_ANSWER_NO, _YES, or LW_ASK.  The rules are those of the row of the
 * same name in lua/luaweb/graph.lua, which gives their sources. */
#ifndef LW_MACHINE_ANSWERS_H
#define LW_MACHINE_ANSWERS_H

#include "machine/core.h"
#include "machine/walk.h"

/* answers_content.c: the request as such, and the content that comes with it */
int lw_answer_authority_served(struct lw_walk *walk);
int lw_answer_has_content(struct lw_walk *walk);
int lw_answer_expectation_met(struct lw_walk *walk);
int lw_answer_length_known(struct lw_walk *walk);
int lw_answer_content_fits(struct lw_walk *walk);
int lw_answer_content_whole(struct lw_walk *walk);
int lw_answer_content_coding_known(struct lw_walk *walk);
int lw_answer_media_type_taken(struct lw_walk *walk);
int lw_answer_patch_type_taken(struct lw_walk *walk);

/* answers_origin.c */
int lw_answer_origin_given(struct lw_walk *walk);
int lw_answer_origin_allowed(struct lw_walk *walk);
int lw_answer_not_preflight(struct lw_walk *walk);

/* answers_offer.c: which representation */
int lw_answer_media_type_offered(struct lw_walk *walk);
int lw_answer_language_offered(struct lw_walk *walk);
int lw_answer_charset_offered(struct lw_walk *walk);
int lw_answer_coding_offered(struct lw_walk *walk);

/* answers_condition.c: preconditions, what was done, ranges */
int lw_answer_precondition_given(struct lw_walk *walk);
int lw_answer_if_match_holds(struct lw_walk *walk);
int lw_answer_if_unmodified_since_holds(struct lw_walk *walk);
int lw_answer_if_none_match_holds(struct lw_walk *walk);
int lw_answer_if_modified_since_holds(struct lw_walk *walk);
int lw_answer_created(struct lw_walk *walk);
int lw_answer_has_reply(struct lw_walk *walk);
int lw_answer_range_wanted(struct lw_walk *walk);
int lw_answer_if_range_holds(struct lw_walk *walk);
int lw_answer_range_fits(struct lw_walk *walk);

/* The date of If-Unmodified-Since.  false: there is none, or it does not count. */
bool lw_unmodified_since(const struct lw_walk *walk, int64_t *date);

#endif
