/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua, for those who want to see: how the program of a method
 * came about, and what the last walk was asked.  Nothing here is needed to serve.  For
 * the rules, see abi.h.
 */

#ifndef LW_BASE_ABI_EXPLAIN_H
#define LW_BASE_ABI_EXPLAIN_H

#include "base/abi_app.h"

/* What became of a row of the graph. */
enum luaweb_fate {
    LUAWEB_FATE_FIXED,       /* the method answers it */
    LUAWEB_FATE_LITERAL,     /* the machine does */
    LUAWEB_FATE_UNARY,       /* both answers lead to the same place */
    LUAWEB_FATE_UNREACHABLE, /* no walk of this method comes here */
    LUAWEB_FATE_ASKED        /* it is a step of the program */
};

/* Who answers a step. */
enum luaweb_by {
    LUAWEB_BY_CORE,     /* C, from the request's head and the machine's properties */
    LUAWEB_BY_APP,      /* the function, or response, of the row's key */
    LUAWEB_BY_OPERATION /* the operation of the method */
};

struct luaweb_fated {
    const char *name; /* lent by the app */
    int32_t fate;     /* enum luaweb_fate */
    int32_t answer;   /* enum luaweb_answer, or a status; ASK where it is not known */
};

/* Arrows: >= 0 the step with this index; < 0 the terminal with the index -1 - arrow. */
struct luaweb_step {
    uint32_t row;
    uint32_t by; /* enum luaweb_by */
    int32_t yes;
    int32_t no;
};

struct luaweb_terminal {
    uint32_t row;
    uint32_t status;
};

enum luaweb_program_room {
    LUAWEB_PROGRAM_ROWS = 250,
    LUAWEB_PROGRAM_TERMINALS = 501
};

struct luaweb_program {
    uint32_t number; /* of the app's programs, of which no two are equal */
    int32_t start;   /* an arrow */
    uint32_t row_count;
    uint32_t step_count;
    uint32_t terminal_count;
    struct luaweb_fated rows[LUAWEB_PROGRAM_ROWS];
    struct luaweb_step steps[LUAWEB_PROGRAM_ROWS];
    struct luaweb_terminal terminals[LUAWEB_PROGRAM_TERMINALS];
};

/* An answer of a walk. */
struct luaweb_traced {
    const char *name; /* of the row; lent by the app */
    uint32_t row;
    int32_t answer; /* enum luaweb_answer, or a status */
};

/* Where a walk has ended, and in whose machine. */
struct luaweb_ending {
    int32_t resource; /* its number; -1: none matched */
    uint32_t row;
    uint32_t status; /* 0: it goes on */
};

/* The program by which a method of a resource is answered (resource -1: where none
 * matches), whether the machine allows the method or not.  false: there is no such
 * resource. */
bool luaweb_explain_program(struct luaweb_host *host, struct luaweb_app *app,
                            int resource, const char *method,
                            struct luaweb_program *program);

/* Whether walks are noted: off at first.  The last that has begun is noted. */
void luaweb_explain_trace(struct luaweb_host *host, bool on);

/* The answers of that walk, at most `capacity` of them.  Gives how many there are; 0
 * with status 0 in *ending where no walk was noted. */
uint32_t luaweb_explain_read(struct luaweb_host *host, struct luaweb_traced *answers,
                             uint32_t capacity, struct luaweb_ending *ending);

#endif
