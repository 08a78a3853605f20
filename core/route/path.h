/* SPDX-License-Identifier: MIT
 *
 * Paths and queries in normal form, so that what means the same has the same octets and
 * can be compared as it is: escapes are decoded, but those of reserved characters and
 * of % stay, with upper-case digits.  All of it is UTF-8.  Knows no templates.
 * RFC 3986 §2.2, §2.3, §6.2.2; RFC 3629 §4. */
#ifndef LW_ROUTE_PATH_H
#define LW_ROUTE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/abi.h"

/* Whether nothing is to be done: neither escapes nor octets beyond ASCII. */
bool lw_path_is_normal(struct luaweb_slice text);

/* Writes the normal form into `out`, which has room for text.size octets and may be
 * text.data itself, and its length into `size`.  False for a % without two hexadecimal
 * digits, and for what is not UTF-8; what `out` and `size` hold then means nothing. */
bool lw_path_normalise(struct luaweb_slice text, char *out, size_t *size);

/* Takes off `rest` what it has before the separator, or all of it.  `rest` is then what
 * comes after it, its data NULL when that was the last item. */
struct luaweb_slice lw_path_cut(struct luaweb_slice *rest, char separator);

#endif
