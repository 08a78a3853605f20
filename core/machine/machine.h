/* SPDX-License-Identifier: MIT
 *
 * A machine, as far as C answers from it: which methods it has, which function speaks
 * for each, and the Allow field.  It knows no paths and runs nothing (RFC 9110 §9,
 * §10.2.1). */
#ifndef LW_MACHINE_MACHINE_H
#define LW_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

#define LW_MACHINE_METHODS 32
#define LW_METHOD_SIZE     64   /* octets, as head.c takes them */
#define LW_ALLOW_SIZE      2640 /* of so many methods, and the usual ones */

struct lw_method {
    struct luaweb_slice name; /* points into the machine's text */
    uint32_t function;
};

struct lw_machine {
    char *text; /* owned */
    struct lw_method methods[LW_MACHINE_METHODS];
    uint32_t method_count;
    bool takes_any; /* "*": any token but TRACE and CONNECT */
    uint32_t any_function;
    char allow[LW_ALLOW_SIZE];
    uint64_t body_limit;
};

/* Reads lines "METHOD index" or "* index" (copied).  false with a static sentence in
 * *why; then nothing is owned. */
bool lw_machine_construct(struct lw_machine *machine, struct luaweb_slice lines,
                          uint64_t body_limit, const char **why);
void lw_machine_destruct(struct lw_machine *machine);

/* The function for a method; false: the machine does not have it. */
bool lw_machine_find(const struct lw_machine *machine, struct luaweb_slice method,
                     uint32_t *function);

#endif
