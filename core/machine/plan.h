/* SPDX-License-Identifier: MIT
 *
 * The compiler: what a machine says, for one method, makes of its graph a program
 * without the questions whose answers are known.  One pass from the last row up does
 * what three fixpoints would: literal, unary and subgraph elimination. */
#ifndef LW_MACHINE_PLAN_H
#define LW_MACHINE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/graph.h"

struct lw_machine;
struct lw_method;

/* An arrow leads to a step, or with this bit to a terminal. */
#define LW_TERMINAL 32768

/* Where a walk ends.  The same status from another row carries other fields. */
struct lw_terminal {
    uint16_t row;
    uint16_t status;
};

struct lw_step {
    uint32_t fields; /* LW_HAS_* bits: with none of these the answer is known ... */
    uint16_t absent; /* ... and leads here */
    uint16_t row;
    uint16_t by; /* enum lw_by */
    uint16_t yes;
    uint16_t no;
};

/* Who answers a step. */
enum lw_by {
    LW_BY_CORE,     /* the row's C function */
    LW_BY_APP,      /* what the machine says to the row: a function */
    LW_BY_OPERATION /* the operation of the method */
};

/* What is known before anything is asked. */
enum lw_fact {
    LW_FACT_EXISTS = 1,         /* the resource is there ... */
    LW_FACT_MISSING = 2,        /* ... or not; neither: not asked yet */
    LW_FACT_ORIGIN_ALLOWED = 4, /* CORS lets this origin in */
    LW_FACT_PREFLIGHT = 8,
    LW_FACT_READS = 16,     /* content may be read */
    LW_FACT_KEPT = 32,      /* the operation's reply waits in Lua */
    LW_FACT_HANDLED = 64,   /* what speaks at the terminal has been asked */
    LW_FACT_REPLYING = 128, /* Lua has content for the response */
    LW_FACT_SPOKEN = 256,   /* what makes the representation spoke after a write */
    LW_FACT_EMPTY = 512,    /* what makes the representation said 200, and no more */
    LW_FACT_WANTED = 1024,  /* the app's function has said yes to has_reply */
    LW_FACT_LOOKED = 2048   /* the app has looked at what negotiation chose */
};

struct lw_plan {
    uint16_t step_count;
    uint16_t terminal_count;
    uint16_t start; /* an arrow */
    uint16_t facts; /* of literal answers */
    const struct lw_step *steps;
    const struct lw_terminal *terminals;
};

/* What became of a row, for those who want to see how a program came about. */
enum lw_fate {
    LW_FATE_FIXED,       /* the method answers it */
    LW_FATE_LITERAL,     /* the machine does */
    LW_FATE_UNARY,       /* both answers lead to the same place */
    LW_FATE_UNREACHABLE, /* no walk of this method comes here */
    LW_FATE_ASKED
};

struct lw_report {
    uint8_t fates[LW_GRAPH_ROWS];   /* enum lw_fate */
    int16_t answers[LW_GRAPH_ROWS]; /* of the rows that are not asked */
};

/* Compiles: gives a program in one piece of memory that the caller owns (free).
 * `report` may be NULL. */
struct lw_plan *lw_plan_compile(const struct lw_machine *machine,
                                const struct lw_method *method,
                                struct lw_report *report);

/* Whether two programs are the same. */
bool lw_plan_equal(const struct lw_plan *a, const struct lw_plan *b);

#endif
