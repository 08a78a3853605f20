/* SPDX-License-Identifier: MIT
 *
 * The pairs of a Cookie header.  Servers of RFC 6265 write "a=1; b=2"; what else
 * arrives is read the way user agents read Set-Cookie (§5.2), which is where it came
 * from.  Owns nothing.  RFC 6265 §4.2, §5.4. */
#include "http/cookie.h"

#include <string.h>

/* What `rest` (not empty) has before the first semicolon; leaves in `rest` what comes
 * after it. */
static struct luaweb_slice take_part(struct luaweb_slice *rest)
{
    const char *end = memchr(rest->data, ';', rest->size);
    size_t size = end ? (size_t)(end - rest->data) : rest->size;
    size_t used = end ? size + 1 : size;
    struct luaweb_slice part = lw_slice(rest->data, size);
    *rest = lw_slice(rest->data + used, rest->size - used);
    return part;
}

bool lw_cookie_next(struct luaweb_slice *rest, struct luaweb_field *pair)
{
    while (rest->size > 0) {
        struct luaweb_slice part = take_part(rest);
        const char *equals = part.size > 0 ? memchr(part.data, '=', part.size) : NULL;
        if (!equals)
            continue;
        size_t before = (size_t)(equals - part.data);
        struct luaweb_slice name = lw_slice_trim(lw_slice(part.data, before));
        if (name.size == 0)
            continue;
        pair->name = name;
        pair->value = lw_slice_trim(lw_slice(equals + 1, part.size - before - 1));
        return true;
    }
    return false;
}
