/* SPDX-License-Identifier: MIT
 *
 * Lines of a response. */
#include "machine/field_lines.h"

#include <string.h>

#include "base/slice.h"
#include "http/reply.h"

bool lw_lines_has(const struct lw_buffer *fields, const char *name)
{
    struct luaweb_slice wanted = lw_slice(name, strlen(name));
    size_t size = lw_buffer_size(fields);
    const char *at = size ? fields->data + fields->start : NULL;
    while (size > 0) {
        const char *lf = memchr(at, '\n', size);
        size_t line = lf ? (size_t)(lf - at) + 1 : size;
        if (line > wanted.size && at[wanted.size] == ':'
            && lw_slice_equal_nocase(lw_slice(at, wanted.size), wanted))
            return true;
        at += line;
        size -= line;
    }
    return false;
}

void lw_lines_add(struct lw_lines *lines, const char *name, struct luaweb_slice value)
{
    lw_reply_line(lines->fields, lines->blocks, lw_slice(name, strlen(name)), value);
}

void lw_lines_put(struct lw_lines *lines, const char *name, struct luaweb_slice value)
{
    if (!lw_lines_has(lines->fields, name))
        lw_lines_add(lines, name, value);
}

struct luaweb_slice lw_lines_join(struct lw_lines *lines, const struct lw_list *list)
{
    size_t size = 0;
    if (list->count == 1)
        return list->items[0];
    for (uint32_t i = 0; i < list->count; i++)
        size += list->items[i].size + 2;
    char *text = lw_arena_alloc(lines->walk->arena, size + 1);
    char *at = text;
    for (uint32_t i = 0; i < list->count; i++) {
        if (i > 0) {
            memcpy(at, ", ", 2);
            at += 2;
        }
        if (list->items[i].size)
            memcpy(at, list->items[i].data, list->items[i].size);
        at += list->items[i].size;
    }
    return lw_slice(text, (size_t)(at - text));
}
