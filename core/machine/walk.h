/* SPDX-License-Identifier: MIT
 *
 * The walk of one request through its program: what was answered so far, what was found
 * on the way, where it stands.  It runs until Lua must be asked or an end is reached,
 * and goes on with the answer.  Zeroed, it is the walk of a request without a machine.
 * It writes nothing of the response: that is fields.c. */
#ifndef LW_MACHINE_WALK_H
#define LW_MACHINE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi_walk.h"
#include "base/arena.h"
#include "machine/machine.h"

struct lw_walk;

/* An answer, in the order in which they were given. */
struct lw_trace_entry {
    uint16_t row;
    int16_t answer; /* enum luaweb_answer, or a status */
};

/* Of the last walk that has begun: others go on unseen. */
struct lw_trace {
    struct lw_trace_entry entries[LW_GRAPH_ROWS];
    uint32_t count;
    const struct lw_walk *walk;       /* to be compared only; NULL: there was none */
    const struct lw_machine *machine; /* lent by the app */
    const struct lw_method *method;   /* likewise */
    struct lw_terminal end;           /* status 0: it goes on */
};

/* A property that Lua gave for this request. */
struct lw_given {
    struct lw_value value;
    struct lw_list list; /* of a list property */
    uint32_t property;
    struct lw_given *next;
};

/* What a walk needs to know of the request's content. */
struct lw_walk_content {
    uint64_t length;
    uint64_t limit; /* the machine's at first; body_limit may change it */
    bool is_chunked;
};

/* Dimensions of negotiation; as enum lw_accept. */
#define LW_DIMENSIONS 4

/* The properties (bits) that are offers, by dimension. */
#define LW_OFFERS 15

struct lw_walk {
    const struct lw_machine *machine; /* NULL: there is none */
    const struct lw_method *method;
    const struct lw_plan *plan;
    const struct luaweb_request *request;
    struct lw_arena *arena;
    struct lw_trace *trace; /* NULL: nobody looks */
    struct lw_given *given; /* lent by the arena */
    int64_t now;            /* seconds since 1970 */
    struct lw_walk_content content;
    uint64_t size;     /* octets of the response's content; < 0 as int64_t: not known */
    uint32_t present;  /* LW_HAS_* bits of the request's fields */
    uint32_t function; /* that was asked last */
    uint16_t at;       /* an arrow */
    uint16_t facts;    /* enum lw_fact */
    uint16_t row;      /* that was asked last, or whose answer has ended the walk */
    uint16_t status;   /* at the end; 0 before */
    uint8_t asked;     /* a property + 1, or 0 */
    bool is_gate;      /* the machine's gate was asked */
    int32_t accepted[LW_DIMENSIONS]; /* 0: not looked at; -1: none; else index + 1 */
};

/* Puts a walk at the start of its program.  `walk` has request, arena, present, content
 * and now. */
void lw_walk_begin(struct lw_walk *walk, const struct lw_machine *machine,
                   const struct lw_method *method);

/* Goes on.  Gives the function that is to be called (walk->asked tells whether for a
 * property), or 0: walk->row and walk->status are the end.  Where content may be read
 * from here on, facts has LW_FACT_READS. */
uint32_t lw_walk_run(struct lw_walk *walk);

/* Takes the answer to the row that was asked: enum luaweb_answer, or a status, which
 * ends the walk.  lw_walk_run goes on. */
void lw_walk_answer(struct lw_walk *walk, int answer);

/* Takes the property that was asked (text NULL: none).  lw_walk_run goes on. */
void lw_walk_give(struct lw_walk *walk, struct luaweb_slice text, double number);

/* Lua has content for the response: answers the row that was asked for it, with its
 * size.  `status` is what the app wants, or 0.  Gives a function for a property that
 * the answer needs, after which this is to be called again; else 0, and walk->status is
 * the response's. */
uint32_t lw_walk_reply(struct lw_walk *walk, int status, uint64_t size,
                       bool is_size_known);

/* Whether content that Lua has, without a wish for a status, is just the 200 of a read
 * to which the machine adds nothing. */
bool lw_walk_is_plain(const struct lw_walk *walk);

/* Whether the walk has ended with a status to which the row leads.  Else the app has
 * set it there: what would be said of the row's own does not hold. */
bool lw_walk_is_regular(const struct lw_walk *walk);

/* Ends the walk, wherever it is, with a status that is not its own. */
void lw_walk_end(struct lw_walk *walk, int status);

/* The value of a property; its text is NULL where there is none.  false: walk->function
 * must give it first. */
bool lw_walk_value(struct lw_walk *walk, enum luaweb_property property,
                   struct lw_value *value);

/* Likewise of a list; an unset one is empty. */
bool lw_walk_list(struct lw_walk *walk, enum luaweb_property property,
                  struct lw_list *list);

/* Whether these properties (bits) are known where the machine has them.  false:
 * walk->function must give one first. */
bool lw_walk_know(struct lw_walk *walk, uint32_t properties);

/* What was chosen in a dimension, negotiating where that was not done.  LW_ASK; 0:
 * nothing; else its index + 1 among the offers in `list`. */
int lw_walk_accept(struct lw_walk *walk, int dimension, struct lw_list *list);

/* A limit from Lua in octets: what is no number of them is 0. */
uint64_t lw_limit_of(double number);

#endif
