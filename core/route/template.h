/* SPDX-License-Identifier: MIT
 *
 * A URI template, taken apart: literals in the normal form of route/path.h, and
 * expressions with their variables.  All levels of RFC 6570 are read.  Knows nothing of
 * requests, nor of what a variable may hold. */
#ifndef LW_ROUTE_TEMPLATE_H
#define LW_ROUTE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/abi.h"

enum {
    LW_TEMPLATE_SIZE = 8192,
    LW_TEMPLATE_VARIABLES = 16 /* and as many expressions */
};

/* The operators of RFC 6570 §2.2, and in lw_operators what each of them means.  In the
 * order in which expressions are tried where several can be meant: the narrower first,
 * those that stay in their segment before those that leave it. */
enum lw_operator {
    LW_OPERATOR_PARAMETER, /* {;x} */
    LW_OPERATOR_LABEL,     /* {.x} */
    LW_OPERATOR_SIMPLE,    /* {x} */
    LW_OPERATOR_SEGMENT,   /* {/x} */
    LW_OPERATOR_QUERY,     /* {?x} */
    LW_OPERATOR_MORE,      /* {&x} */
    LW_OPERATOR_FRAGMENT,  /* {#x} */
    LW_OPERATOR_RESERVED   /* {+x} */
};

struct lw_operator_facts {
    char symbol;       /* in the template, 0: none */
    char first;        /* what its text begins with, 0: nothing */
    char separator;    /* between the items */
    bool is_named;     /* items are name=value */
    const char *stops; /* octets that its text never has */
};
extern const struct lw_operator_facts lw_operators[8];

struct lw_variable {
    struct luaweb_slice name; /* as written */
    struct luaweb_slice key;  /* the same in normal form */
    uint32_t prefix;          /* {x:3}: the most characters, 0: any number */
    bool is_exploded;         /* {x*} */
};

struct lw_expression {
    uint8_t op;    /* enum lw_operator */
    uint8_t first; /* its variables among the template's */
    uint8_t count;
    uint8_t most;    /* items that its text can have, 0: any number */
    bool has_prefix; /* its items are positional, and some have a prefix */
};

struct lw_part {
    struct luaweb_slice literal; /* empty: an expression */
    uint32_t expression;         /* its number */
};

/* One block of memory, what is read most in front. */
struct lw_template {
    uint32_t expression_count;
    uint32_t variable_count;
    uint32_t part_count;
    struct lw_expression *expressions;
    struct lw_variable *variables;
    struct lw_part *parts;
    struct luaweb_slice text; /* as written */
};

/* Reads a template (copied).  The caller owns the result (lw_template_free).  NULL,
 * with a static sentence in `why` ("has ..."), when it is none. */
struct lw_template *lw_template_new(struct luaweb_slice text, const char **why);
void lw_template_free(struct lw_template *template);

/* The parts that make a path; the others are {?x} and {&x}.  -1, with a static sentence
 * in `why`, when the template is no resource's: what it matches is not a path and
 * perhaps parameters of the query, or one of its variables can never have a value. */
int lw_template_path(const struct lw_template *template, const char **why);

#endif
