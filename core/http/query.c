/* SPDX-License-Identifier: MIT
 *
 * The pairs of a query or form.  Each call reads on from where the last one stopped, so
 * a whole iteration looks at every octet twice at most.  Owns nothing.  WHATWG URL
 * §5.1. */
#include "http/query.h"

#include <string.h>

/* What `rest` (not empty) has before the first `separator`; leaves in `rest` what comes
 * after it. */
static struct luaweb_slice cut(struct luaweb_slice *rest, char separator)
{
    const char *end = memchr(rest->data, separator, rest->size);
    size_t size = end ? (size_t)(end - rest->data) : rest->size;
    size_t used = end ? size + 1 : size;
    struct luaweb_slice part = lw_slice(rest->data, size);
    *rest = lw_slice(rest->data + used, rest->size - used);
    return part;
}

bool lw_query_next(struct luaweb_slice *rest, struct luaweb_field *pair)
{
    while (rest->size > 0) {
        struct luaweb_slice value = cut(rest, '&');
        if (value.size == 0)
            continue;
        pair->name = cut(&value, '=');
        pair->value = value;
        return true;
    }
    return false;
}
