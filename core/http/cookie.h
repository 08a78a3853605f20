/* SPDX-License-Identifier: MIT
 *
 * The pairs of a Cookie header, one after the other.  Owns nothing, decodes and
 * unquotes nothing, and never judges a value.  RFC 6265 §4.2, §5.4. */
#ifndef LW_HTTP_COOKIE_H
#define LW_HTTP_COOKIE_H

#include "base/slice.h"

/* Takes the next pair off `rest` (at first a whole header value; of several Cookie
 * lines each is read by itself).  Name and value are raw slices of it, lent as long as
 * its octets live, without the spaces and tabs around them.  A semicolon always
 * divides, in quotes too, and so does the first = of a part; parts without = or without
 * a name are passed over.  Repeated names come as they are: the first is the one that
 * counts.  False at the end, with `pair` left as it was.  RFC 6265 §4.2, §5.4. */
bool lw_cookie_next(struct luaweb_slice *rest, struct luaweb_field *pair);

#endif
