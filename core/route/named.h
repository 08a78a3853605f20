/* SPDX-License-Identifier: MIT
 *
 * The items of {;x}, {?x} and {&x}: name=value, or a name alone, bound to variables by
 * name (RFC 6570 §3.2.7 to §3.2.9).  Owns nothing, decodes nothing. */
#ifndef LW_ROUTE_NAMED_H
#define LW_ROUTE_NAMED_H

#include "route/template.h"

/* Takes the next item off `rest`; an item without = has an empty value.  False at the
 * end. */
bool lw_named_next(struct luaweb_slice *rest, char separator,
                   struct luaweb_field *item);

/* The number of the variable with this name, or `count`. */
uint32_t lw_named_find(const struct lw_variable *variables, uint32_t count,
                       struct luaweb_slice name);

/* Whether some values of these variables expand to `text` (without what it begins
 * with): every name is known or can be the key of a map, none but an exploded one comes
 * twice, no value is longer than its prefix. */
bool lw_named_valid(const struct lw_variable *variables, uint32_t count, char separator,
                    struct luaweb_slice text);

#endif
