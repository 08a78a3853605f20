/* SPDX-License-Identifier: MIT
 *
 * The pairs of a query or of application/x-www-form-urlencoded content, one after the
 * other.  Owns nothing and decodes nothing: lw_percent_decode_form does that with each
 * name and value that is wanted.  WHATWG URL §5.1. */
#ifndef LW_HTTP_QUERY_H
#define LW_HTTP_QUERY_H

#include "base/slice.h"

/* Takes the next pair off `rest` (at first the whole query, without its ?).  Name and
 * value are raw slices of it, lent as long as its octets live.  The first = divides; a
 * part without one is a name with an empty value; empty parts are passed over.  False
 * at the end, with `pair` left as it was.  WHATWG URL §5.1. */
bool lw_query_next(struct luaweb_slice *rest, struct luaweb_field *pair);

#endif
