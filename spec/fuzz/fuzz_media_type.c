/* SPDX-License-Identifier: MIT
 *
 * Fuzzes media types.  The input is a type and, behind a line feed, a pattern.  Parts
 * lie in the input one behind the other, parameters can be read to the end, unquoting
 * never grows, and what matches is the pattern's own type or falls under its star.
 * RFC 9110 §8.3.1. */
#include <stdlib.h>

#include "base/require.h"
#include "http/media_type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(struct luaweb_slice raw)
{
    lw_require(raw.size > 0);
    char *out = lw_alloc(raw.size);
    size_t written = lw_media_type_unquote(raw, out);
    lw_require(raw.data[0] == '"' ? written + 2 <= raw.size : written == raw.size);
    free(out);
}

static void check_parameters(struct luaweb_slice rest)
{
    const char *end = rest.data + rest.size;
    const char *behind = rest.data;
    struct luaweb_field parameter;
    while (lw_media_type_next(&rest, &parameter)) {
        lw_require(parameter.name.data > behind && parameter.name.size > 0);
        lw_require(parameter.value.data
                   == parameter.name.data + parameter.name.size + 1);
        behind = parameter.value.data + parameter.value.size;
        lw_require(behind == rest.data && rest.data + rest.size == end);
        check_value(parameter.value);
    }
    lw_require(rest.size == 0);
}

static void check_type(struct luaweb_slice text, const struct lw_media_type *media)
{
    lw_require(media->type.data >= text.data && media->type.size > 0);
    lw_require(media->subtype.data == media->type.data + media->type.size + 1);
    lw_require(media->parameters.data == media->subtype.data + media->subtype.size);
    lw_require(media->name.data == media->type.data);
    lw_require(media->name.data + media->name.size == media->parameters.data);
    lw_require(media->parameters.data + media->parameters.size
               <= text.data + text.size);
    check_parameters(media->parameters);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *feed = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t before = feed ? (size_t)(feed - (const char *)data) : size;
    struct luaweb_slice text = {(const char *)data, before};

    struct lw_media_type media, pattern;
    if (!lw_media_type_parse(text, &media))
        return 0;
    check_type(text, &media);

    bool has_star = memchr(media.name.data, '*', media.name.size);
    if (media.parameters.size == 0)
        lw_require(lw_media_type_match(&media, &media) == !has_star);
    lw_require(lw_media_type_parse(media.name, &pattern));
    lw_require(lw_media_type_match(&media, &pattern) == !has_star);

    if (!feed)
        return 0;
    text = lw_slice(feed + 1, size - before - 1);
    if (lw_media_type_parse(text, &pattern) && lw_media_type_match(&media, &pattern))
        lw_require(lw_slice_equal(pattern.subtype, LW_SLICE("*"))
                   || lw_slice_equal_nocase(pattern.name, media.name));
    return 0;
}
