/* SPDX-License-Identifier: MIT
 *
 * A machine: what an app says to the rows of a graph, its properties, operations and
 * handlers, and the programs that follow, one for each method.  It owns all texts that
 * it holds, and is never changed once its app is built. */
#ifndef LW_MACHINE_MACHINE_H
#define LW_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi_app.h"
#include "machine/graph.h"
#include "machine/plan.h"

#define LW_MACHINE_METHODS  32
#define LW_MACHINE_OFFERS   16
#define LW_MACHINE_HANDLERS 48
#define LW_METHOD_SIZE      64   /* octets, as head.c takes them */
#define LW_ALLOW_SIZE       2640 /* of so many methods, and the usual ones */

/* What a property holds. */
struct lw_value {
    struct luaweb_slice text; /* data NULL: none */
    double number;
    uint32_t function; /* not 0: Lua knows it for each request */
};

/* Items of a list property. */
struct lw_list {
    const struct luaweb_slice *items;
    uint32_t count;
};

/* An app's word on a row. */
struct lw_said {
    int32_t answer;    /* enum luaweb_answer, or a status */
    uint32_t function; /* with LUAWEB_ANSWER_ASK */
};

/* What a method is to a machine. */
enum lw_method_class {
    LW_METHOD_ALLOWED,
    LW_METHOD_REFUSED, /* implemented, but not here */
    LW_METHOD_UNKNOWN  /* not implemented */
};

struct lw_method {
    struct luaweb_slice name; /* owned; "*": all that are not named */
    enum lw_method_class class;
    uint32_t bit;                  /* enum luaweb_method_bit, or one that rows name */
    uint32_t operation;            /* a function, or 0 */
    uint32_t reply;                /* likewise: makes the representation */
    uint32_t key;                  /* bits of what its requests are counted under */
    const struct lw_plan *program; /* borrowed from the app */
};

/* What speaks at a status: a function, or a constant. */
struct lw_handler {
    int status;
    uint32_t function;
    struct luaweb_slice type; /* owned */
    struct luaweb_slice text; /* owned */
};

/* How long a request may take, and what follows when its client goes. */
struct lw_patience {
    int64_t timeout_ms; /* < 0: as the server's */
    uint64_t grace_ms;  /* from the end of the client's stream; then it is gone */
    enum luaweb_on_disconnect on_disconnect;
};

struct lw_machine {
    const struct lw_graph *graph; /* borrowed from the app */
    struct lw_said *said;         /* owned; by row */
    struct lw_method methods[LW_MACHINE_METHODS];
    uint32_t method_count;
    struct lw_method refused;                  /* what `methods` does not have: 405 */
    struct lw_method unknown;                  /* what no machine has: 501 */
    struct lw_value values[LUAWEB_PROPERTIES]; /* texts owned */
    struct lw_list lists[LUAWEB_PROPERTIES];   /* owned; of literal lists */
    uint32_t has;                              /* bits of the properties that it has */
    uint32_t asks;                             /* those of them that are functions */
    uint32_t offers[LW_MACHINE_OFFERS];        /* functions by media type, or 0 */
    struct lw_handler handlers[LW_MACHINE_HANDLERS];
    uint32_t handler_count;
    struct lw_patience patience;
    uint32_t gate;            /* a function, or 0 */
    bool is_plain;            /* adds nothing to responses to reads */
    bool is_unmatched;        /* stands for all paths without a resource */
    bool has_cors;            /* its responses may depend on the origin ... */
    bool is_open;             /* ... but don't: any is let in, without credentials */
    struct luaweb_slice vary; /* owned; of the responses that vary, may be empty */
    char allow[LW_ALLOW_SIZE];
};

void lw_machine_construct(struct lw_machine *machine, const struct lw_graph *graph);
void lw_machine_destruct(struct lw_machine *machine);

/* Filling in; see the functions of the same name in base/abi.h. */
bool lw_machine_add_method(struct lw_machine *machine, struct luaweb_slice name,
                           uint32_t bit, uint32_t operation, uint32_t reply);
void lw_machine_set(struct lw_machine *machine, enum luaweb_property property,
                    struct luaweb_slice text, double number, uint32_t function);
bool lw_machine_add_handler(struct lw_machine *machine, int status, uint32_t function,
                            struct luaweb_slice type, struct luaweb_slice text);

/* Ends the filling in: writes what all its responses share. */
void lw_machine_finish(struct lw_machine *machine);

/* The method of that name, else "*" unless it is one that never is; NULL: the machine
 * does not have it. */
const struct lw_method *lw_machine_find(const struct lw_machine *machine,
                                        struct luaweb_slice name);

/* What speaks at a status, or NULL. */
const struct lw_handler *lw_machine_handler(const struct lw_machine *machine,
                                            int status);

/* Whether it has a property, in whatever form. */
bool lw_machine_has(const struct lw_machine *machine, enum luaweb_property property);

/* Whether nothing acceptable in a dimension ("media_type", ...) is a 406; `strict` is
 * no function. */
bool lw_machine_is_strict(const struct lw_machine *machine, const char *dimension);

#endif
