/* SPDX-License-Identifier: MIT
 *
 * Percent-encoding: octets as %XX and back, into memory of the caller.  Owns nothing
 * and never decodes twice.  RFC 3986 §2.1; WHATWG URL §5 for the form variants. */
#ifndef LW_HTTP_PERCENT_H
#define LW_HTTP_PERCENT_H

#include "base/slice.h"

/* Decodes `text` into `out`, which has room for text.size octets and may be text.data
 * itself, and sets `size` to what was written.  A plus stays a plus.  False when a % is
 * not followed by two hexadecimal digits; `size` is then left as it was and what `out`
 * holds means nothing.  RFC 3986 §2.1. */
bool lw_percent_decode(struct luaweb_slice text, char *out, size_t *size);

/* Decodes a name or value of a form or query into `out`, which has room for text.size
 * octets and may be text.data itself; returns how many were written.  A plus is a
 * space; a % without two hexadecimal digits stays as it is.  WHATWG URL §5.1. */
size_t lw_percent_decode_form(struct luaweb_slice text, char *out);

/* Encodes a name or value of a form into `out`, which has room for 3 * text.size octets
 * and does not overlap `text`; returns how many were written.  A space becomes a plus;
 * letters, digits and * - . _ stay.  WHATWG URL §5.2. */
size_t lw_percent_encode_form(struct luaweb_slice text, char *out);

#endif
