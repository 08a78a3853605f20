/* SPDX-License-Identifier: MIT
 *
 * Fuzzes queries and percent-encoding.  Pairs lie in the input one behind the other;
 * decoding never grows and reads back what was encoded; the strict and the form variant
 * agree where both accept.  WHATWG URL §5; RFC 3986 §2.1. */
#include <stdlib.h>

#include "base/require.h"
#include "http/percent.h"
#include "http/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_decoding(struct luaweb_slice raw)
{
    /* Of exactly the promised size, so that one octet too many is noticed. */
    char *form = lw_alloc(raw.size);
    char *strict = lw_alloc(raw.size);
    char *encoded = lw_alloc(raw.size * 3);

    size_t form_size = lw_percent_decode_form(raw, form);
    lw_require(form_size <= raw.size);

    size_t strict_size = 0;
    bool is_strict = lw_percent_decode(raw, strict, &strict_size);
    bool has_plus = raw.size > 0 && memchr(raw.data, '+', raw.size);
    if (is_strict && !has_plus)
        lw_require(
            lw_slice_equal(lw_slice(strict, strict_size), lw_slice(form, form_size)));

    size_t encoded_size = lw_percent_encode_form(raw, encoded);
    lw_require(encoded_size >= raw.size && encoded_size <= raw.size * 3);
    size_t again = lw_percent_decode_form(lw_slice(encoded, encoded_size), encoded);
    lw_require(lw_slice_equal(lw_slice(encoded, again), raw));

    free(form);
    free(strict);
    free(encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct luaweb_slice whole = {(const char *)data, size};
    struct luaweb_slice rest = whole;
    struct luaweb_field pair;
    const char *behind = whole.data;

    while (lw_query_next(&rest, &pair)) {
        lw_require(pair.name.data >= behind);
        lw_require(pair.value.data >= pair.name.data + pair.name.size);
        behind = pair.value.data + pair.value.size;
        lw_require(behind <= rest.data && rest.data + rest.size == whole.data + size);
        lw_require(pair.name.size == 0 || !memchr(pair.name.data, '=', pair.name.size));
        check_decoding(pair.name);
        check_decoding(pair.value);
    }
    lw_require(rest.size == 0);
    check_decoding(whole);
    return 0;
}
