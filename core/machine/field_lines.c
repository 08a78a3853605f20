/* SPDX-License-Identifier: MIT
 *
 * Lines of a response. */
#include "machine/field_lines.h"

#include <string.h>

#include "base/slice.h"
#include "http/reply.h"

/* The first line of this name, with its end; data NULL: there is none. */
static struct luaweb_slice find_line(const struct lw_buffer *fields, const char *name)
{
    struct luaweb_slice wanted = lw_slice(name, strlen(name));
    size_t size = lw_buffer_size(fields);
    const char *at = size ? fields->data + fields->start : NULL;
    while (size > 0) {
        const char *lf = memchr(at, '\n', size);
        size_t line = lf ? (size_t)(lf - at) + 1 : size;
        if (line > wanted.size && at[wanted.size] == ':'
            && lw_slice_equal_nocase(lw_slice(at, wanted.size), wanted))
            return lw_slice(at, line);
        at += line;
        size -= line;
    }
    return lw_slice(NULL, 0);
}

bool lw_lines_has(const struct lw_buffer *fields, const char *name)
{
    return find_line(fields, name).data != NULL;
}

struct luaweb_slice lw_lines_value(const struct lw_buffer *fields, const char *name)
{
    struct luaweb_slice line = find_line(fields, name);
    size_t before = strlen(name) + 2; /* ": " */
    return line.data ? lw_slice(line.data + before, line.size - before - 2) : line;
}

struct luaweb_slice lw_lines_take(struct lw_buffer *fields, const char *name,
                                  struct lw_arena *arena)
{
    struct luaweb_slice line = find_line(fields, name);
    size_t before = strlen(name) + 2; /* ": " */
    if (!line.data)
        return line;
    size_t size = line.size - before - 2; /* CR LF */
    size_t at = (size_t)(line.data - fields->data);
    char *value = lw_arena_alloc(arena, size + 1);
    memcpy(value, line.data + before, size);
    memmove(fields->data + at, line.data + line.size, fields->end - at - line.size);
    fields->end -= line.size;
    return lw_slice(value, size);
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
            *at++ = ',';
            *at++ = ' ';
        }
        if (list->items[i].size)
            memcpy(at, list->items[i].data, list->items[i].size);
        at += list->items[i].size;
    }
    return lw_slice(text, (size_t)(at - text));
}
