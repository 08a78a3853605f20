/* SPDX-License-Identifier: MIT
 *
 * The text of one expression: where it can begin, how far it can reach, whether some
 * values of its variables expand to it (RFC 6570 §3.2).  Any octet but those that end
 * it is taken for a value, also what expansion would have escaped.  Texts are in normal
 * form.  Knows neither other expressions nor other templates. */
#ifndef LW_ROUTE_SPAN_H
#define LW_ROUTE_SPAN_H

#include "route/template.h"

/* Where the text of an expression lies; empty: it has none. */
struct lw_span {
    uint32_t start, end;
};

/* Whether the expression can have text that begins at `at`. */
bool lw_span_starts(const struct lw_expression *expression, struct luaweb_slice text,
                    uint32_t at);

/* How far such a text can reach: behind `at`.  The template, which the expression is
 * of, is looked at only where a variable has a prefix. */
uint32_t lw_span_reach(const struct lw_expression *expression,
                       const struct lw_template *template, struct luaweb_slice text,
                       uint32_t at);

/* Whether it can end at span.end, which is not behind its reach: within no character,
 * and with items whose names the template knows. */
bool lw_span_valid(const struct lw_expression *expression,
                   const struct lw_template *template, struct luaweb_slice text,
                   struct lw_span span);

#endif
