/* SPDX-License-Identifier: MIT
 *
 * Responses with parts of a representation (RFC 9110 §14, §15.3.7): which octets, and
 * what stands between them. */
#ifndef LW_NET_PARTS_H
#define LW_NET_PARTS_H

#include "net/request.h"

/* Remembers the type of the content of which a part is wanted: LUAWEB_REPLY_PART. */
int lw_parts_begin(struct lw_request *request, struct luaweb_slice type);

/* Which octets of it, and what stands between them: see luaweb_parts. */
uint32_t lw_parts_choose(struct lw_request *request, double *first, double *last,
                         struct luaweb_slice *heads);

/* The wanted parts of a constant; `type` is its Content-Type, then that of the parts.
 * Lent by the request's arena, or a piece of `text`. */
struct luaweb_slice lw_parts_cut(struct lw_request *request, struct luaweb_slice text,
                                 struct luaweb_slice *type);

#endif
