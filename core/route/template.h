/* SPDX-License-Identifier: MIT
 *
 * URI templates (RFC 6570) read backwards: does a path come from this template, and
 * with which values?  Known so far: literals, `{name}` (one or more octets of a
 * segment, also none) and `{/name}` (a segment with its slash, or nothing at all).
 * Knows no requests. */
#ifndef LW_ROUTE_TEMPLATE_H
#define LW_ROUTE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/abi.h"

#define LW_TEMPLATE_PARTS     32
#define LW_TEMPLATE_VARIABLES 16

enum lw_part_kind {
    LW_PART_LITERAL,
    LW_PART_VARIABLE,
    LW_PART_SEGMENT
};

struct lw_part {
    enum lw_part_kind kind;
    struct luaweb_slice text; /* the literal, or the name of the variable */
};

struct lw_template {
    char *text; /* owned; the parts point into it */
    uint32_t part_count;
    uint32_t variable_count;
    struct lw_part parts[LW_TEMPLATE_PARTS];
};

/* Reads a template (copied).  false, with a static sentence in *why, when it is not
 * one; then nothing is owned. */
bool lw_template_construct(struct lw_template *template, struct luaweb_slice text,
                           const char **why);
void lw_template_destruct(struct lw_template *template);

/* Matches a whole path (as received).  The pairs get name and raw value of each
 * variable that is set, in order: room for LW_TEMPLATE_VARIABLES; values point into
 * path. */
bool lw_template_match(const struct lw_template *template, struct luaweb_slice path,
                       struct luaweb_field *pairs, uint32_t *count);

/* Orders by what is more specific: < 0 when `a` is to be tried first. */
int lw_template_compare(const struct lw_template *a, const struct lw_template *b);

#endif
