/* SPDX-License-Identifier: MIT
 *
 * The lines of a response while a machine adds to them, for fields.c and
 * fields_cors.c. */
#ifndef LW_MACHINE_FIELD_LINES_H
#define LW_MACHINE_FIELD_LINES_H

#include "base/buffer.h"
#include "machine/walk.h"

struct lw_lines {
    struct lw_walk *walk;
    struct lw_buffer *fields;
    struct lw_blocks *blocks;
};

/* Whether there is a line of this name. */
bool lw_lines_has(const struct lw_buffer *fields, const char *name);

/* The value of the first line of this name, lent until they change.  Data NULL: there is
 * none. */
struct luaweb_slice lw_lines_value(const struct lw_buffer *fields, const char *name);

/* Takes the first line of this name out: its value, moved into the arena.  Data NULL:
 * there is none. */
struct luaweb_slice lw_lines_take(struct lw_buffer *fields, const char *name,
                                  struct lw_arena *arena);

/* Appends a line, or (put) only where the app has set none of this name. */
void lw_lines_add(struct lw_lines *lines, const char *name, struct luaweb_slice value);
void lw_lines_put(struct lw_lines *lines, const char *name, struct luaweb_slice value);

/* The items with ", " between them; lent by the walk's arena. */
struct luaweb_slice lw_lines_join(struct lw_lines *lines, const struct lw_list *list);

/* The part of CORS; see fields.h. */
bool lw_cors_concerns(const struct lw_walk *walk);
uint32_t lw_cors_needs(const struct lw_walk *walk);
void lw_cors_write(struct lw_lines *lines);

#endif
