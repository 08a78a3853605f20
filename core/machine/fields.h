/* SPDX-License-Identifier: MIT
 *
 * The fields that a machine adds to a response: which ones follows from the row and the
 * status at which the walk has ended, and from what was found on the way; see the notes
 * on the rows in lua/luaweb/graph.lua.  What the app has set itself stays as it is. */
#ifndef LW_MACHINE_FIELDS_H
#define LW_MACHINE_FIELDS_H

#include "base/buffer.h"
#include "machine/walk.h"

/* The properties (bits) that the response at the end of this walk needs. */
uint32_t lw_fields_needs(const struct lw_walk *walk);

/* Appends lines to the response's fields; the needs are known.  `is_problem`: its
 * content is a short one of ours, which is negotiated (http/problem.h). */
void lw_fields_write(struct lw_walk *walk, bool is_problem, struct lw_buffer *fields,
                     struct lw_blocks *blocks);

/* Whether the response lacks a field without which its status makes no sense: the
 * challenge of a 401, the Location of a redirect (RFC 9110 §15.5.2, §15.4).  `fields`
 * are those of the app and of lw_fields_write. */
bool lw_fields_lack(const struct lw_walk *walk, const struct lw_buffer *fields);

/* The properties (bits) on which the type of the content depends. */
uint32_t lw_fields_type_needs(const struct lw_walk *walk);

/* The Content-Type of content that the app has given this type (data NULL: none, then
 * it is what was negotiated, else text); lent by the machine or the walk's arena. */
struct luaweb_slice lw_fields_type(struct lw_walk *walk, struct luaweb_slice given);

#endif
