/* SPDX-License-Identifier: MIT
 *
 * The values that a match gives to the variables, one after the other, still escaped.
 * Positional items go to the variables from left to right, one each; an exploded
 * variable takes all that are left, the last one without * all that commas divide.
 * Named items go by name; those that no variable is named for are the pairs of a map,
 * for the first exploded variable without items of its own.  Owns nothing. */
#ifndef LW_ROUTE_CAPTURE_H
#define LW_ROUTE_CAPTURE_H

#include "route/match.h"

struct lw_capture {
    uint32_t variable;       /* among the template's */
    uint32_t kind;           /* enum luaweb_param_kind */
    bool is_query;           /* of the query: a plus is a space there */
    struct luaweb_slice key; /* of a pair */
    struct luaweb_slice value;
};

/* What is given next of the current variable. */
enum lw_capture_mode {
    LW_CAPTURE_FRESH, /* its first value */
    LW_CAPTURE_LIST,  /* what commas divide in `list` */
    LW_CAPTURE_ITEMS, /* the items of its name in `rest` */
    LW_CAPTURE_PAIRS  /* the items in `rest` that nobody else is named for */
};

/* An iteration.  The values of one variable come one behind the other. */
struct lw_captures {
    const struct lw_match *match;
    const struct lw_template *template;
    uint32_t expression; /* the next to be opened */
    uint32_t variable;   /* the current one */
    uint32_t end;        /* behind the variables of this expression */
    uint32_t first;      /* the first of them */
    uint8_t op;
    uint8_t mode; /* enum lw_capture_mode */
    bool is_query;
    bool has_map;             /* a variable of this expression has the pairs */
    struct luaweb_slice text; /* of the expression, without what it begins with */
    struct luaweb_slice rest; /* that is unread, data NULL: nothing */
    struct luaweb_slice list; /* likewise */
};

/* Begins to give the values of a match, which stays as it is meanwhile.  Variables of
 * the query are bound by match->query (data NULL: none); what is not theirs is passed
 * over, and of a value that comes twice the first counts. */
void lw_captures_start(struct lw_captures *captures, const struct lw_match *match);

/* The next one.  False at the end. */
bool lw_captures_next(struct lw_captures *captures, struct lw_capture *capture);

#endif
