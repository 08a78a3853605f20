/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the Cookie header.  Pairs lie in the input one behind the other, names are not
 * empty, no separator is part of a name or value, and no outer white space.
 * RFC 6265 §4.2. */
#include "base/require.h"
#include "http/cookie.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has(struct luaweb_slice text, char octet)
{
    return text.size > 0 && memchr(text.data, octet, text.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct luaweb_slice rest = {(const char *)data, size};
    struct luaweb_field pair;
    const char *end = rest.data + size;
    const char *behind = rest.data;

    while (lw_cookie_next(&rest, &pair)) {
        lw_require(pair.name.data >= behind && pair.name.size > 0);
        lw_require(pair.value.data > pair.name.data + pair.name.size - 1);
        behind = pair.value.data + pair.value.size;
        lw_require(behind <= rest.data && rest.data + rest.size == end);
        lw_require(!has(pair.name, '=') && !has(pair.name, ';')
                   && !has(pair.value, ';'));
        lw_require(lw_slice_trim(pair.name).size == pair.name.size);
        lw_require(lw_slice_trim(pair.value).size == pair.value.size);
    }
    lw_require(rest.size == 0);
    return 0;
}
