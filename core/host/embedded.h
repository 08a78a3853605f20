/* SPDX-License-Identifier: MIT
 *
 * The texts that the build put into the binary: lua/ by module name, and the border. */
#ifndef LW_HOST_EMBEDDED_H
#define LW_HOST_EMBEDDED_H

#include <stddef.h>

struct lw_embedded {
    const char *name; /* "luaweb.json"; NULL ends the table */
    const void *text; /* octets, with a NUL behind it that size does not count */
    size_t size;
};

extern const struct lw_embedded lw_embedded[];

/* The text of that name, or NULL. */
const struct lw_embedded *lw_embedded_find(const char *name);

#endif
