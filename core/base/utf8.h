/* SPDX-License-Identifier: MIT
 *
 * Tells UTF-8 from other octets, character by character.  RFC 3629 §3, §4. */
#ifndef LW_BASE_UTF8_H
#define LW_BASE_UTF8_H

#include <stddef.h>

/* How many of the `size` octets at `text` the first character has: 1..4.  0: they begin
 * with none, because they are not UTF-8, cut off, or not there.  RFC 3629 §4. */
size_t lw_utf8_size(const char *text, size_t size);

#endif
