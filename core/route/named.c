/* SPDX-License-Identifier: MIT
 *
 * Taking the items apart and holding them against the variables. */
#include "route/named.h"

#include "base/slice.h"
#include "route/path.h"

bool lw_named_next(struct luaweb_slice *rest, char separator, struct luaweb_field *item)
{
    if (!rest->data)
        return false;
    item->value = lw_path_cut(rest, separator);
    item->name = lw_path_cut(&item->value, '=');
    return true;
}

uint32_t lw_named_find(const struct lw_variable *variables, uint32_t count,
                       struct luaweb_slice name)
{
    uint32_t at = 0;
    while (at < count && !lw_slice_equal(variables[at].key, name))
        at++;
    return at;
}

/* The characters of a text in normal form; an escape is one. */
static size_t count_characters(struct luaweb_slice text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++) {
        count += ((unsigned char)text.data[i] & 0xc0) != 0x80;
        i += text.data[i] == '%' ? 2 : 0;
    }
    return count;
}

bool lw_named_valid(const struct lw_variable *variables, uint32_t count, char separator,
                    struct luaweb_slice text)
{
    uint32_t seen = 0;
    bool has_others = false;
    struct luaweb_field item;
    while (lw_named_next(&text, separator, &item)) {
        uint32_t at = lw_named_find(variables, count, item.name);
        if (item.name.size == 0)
            return false;
        if (at == count) {
            has_others = true;
            continue;
        }
        const struct lw_variable *variable = &variables[at];
        if (seen >> at & 1 && !variable->is_exploded)
            return false;
        if (variable->prefix > 0 && count_characters(item.value) > variable->prefix)
            return false;
        seen |= 1U << at;
    }
    for (uint32_t i = 0; has_others && i < count; i++)
        if (variables[i].is_exploded && !(seen >> i & 1))
            return true;
    return !has_others;
}
