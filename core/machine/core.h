/* SPDX-License-Identifier: MIT
 *
 * The rows that C answers, by name: what a machine's properties settle before any
 * request, and what the request's head says. */
#ifndef LW_MACHINE_CORE_H
#define LW_MACHINE_CORE_H

#include <stdbool.h>

#include "machine/machine.h"

struct lw_walk;

/* What an answer may be beside LUAWEB_ANSWER_NO and _YES. */
#define LW_UNSETTLED (-1) /* of settle: the request decides */
#define LW_ASK       (-2) /* of answer: walk->function gives a property first */

struct lw_core {
    const char *name;
    /* NULL: the request decides */
    int (*settle)(const struct lw_machine *machine, const struct lw_method *method);
    /* NULL: settle has always decided */
    int (*answer)(struct lw_walk *walk);
    /* LW_HAS_* bits of the fields that it is about, 0: of no field; and what the answer
     * is when the request has none of them */
    uint32_t fields;
    bool absent;
};

/* NULL: there is none of that name. */
const struct lw_core *lw_core_find(const char *name);

/* Whether this question is about a fact of the walk, so that the app is not asked: a
 * PUT or PATCH that came through creation has created (RFC 9110 §9.3.4). */
bool lw_core_is_fact(const struct lw_core *core, const struct lw_method *method);

/* Whether this question refuses nothing, so that its no is a yes: negotiation in a
 * dimension that `strict` does not name. */
bool lw_core_is_lenient(const struct lw_core *core, const struct lw_machine *machine);

#endif
