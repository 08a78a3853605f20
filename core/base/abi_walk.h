/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua, while a request walks through its machine's graph: what
 * C asks, and what Lua answers.  For the rules, see abi.h.
 */

#ifndef LW_BASE_ABI_WALK_H
#define LW_BASE_ABI_WALK_H

#include "base/abi_app.h"

/* A function number that no app has: Lua sends the reply that an operation left. */
enum luaweb_function {
    LUAWEB_FUNCTION_NONE = 0,
    LUAWEB_FUNCTION_KEPT = 1,
    LUAWEB_FUNCTION_LATE = -1 /* the head of the response was sent already */
};

/* Answers the decision or operation that was asked (enum luaweb_answer, or a status
 * that ends the walk, and is one that an app may give): the function to call next, or
 * LUAWEB_FUNCTION_NONE when nothing is left to do. */
int32_t luaweb_answer(struct luaweb_host *host, struct luaweb_request *request,
                      uint32_t generation, int answer);

/* Gives the property that was asked; text NULL: there is none.  The function to call
 * next goes to *next.  LUAWEB_REPLY_OK, _GONE, or _BAD_VALUE. */
int luaweb_give(struct luaweb_host *host, struct luaweb_request *request,
                uint32_t generation, const char *text, size_t size, double number,
                uint32_t *next);

/* The function that LUAWEB_REPLY_ASK speaks of. */
uint32_t luaweb_pending(struct luaweb_host *host, struct luaweb_request *request,
                        uint32_t generation);

/* The parts that LUAWEB_REPLY_PART speaks of, of content that has `size` octets.  For
 * more than one, `heads` has what stands in front of each and behind the last; lent
 * until the request ends.  Gives their number. */
uint32_t luaweb_parts(struct luaweb_host *host, struct luaweb_request *request,
                      uint32_t generation, double first[16], double last[16],
                      struct luaweb_slice heads[17]);

/* What negotiation has chosen in a dimension (0 media type, 1 language, 2 charset, 3
 * content coding); lent until the request ends.  false: nothing. */
bool luaweb_accepted(struct luaweb_host *host, struct luaweb_request *request,
                     uint32_t generation, int dimension, struct luaweb_slice *chosen);

/* What the request's preconditions say, for the operation's transaction: the values of
 * its If-Match or If-None-Match lines are in its headers; `exists` is whether the walk
 * found the resource (1), found none (0), or did not ask (-1). */
int luaweb_exists(struct luaweb_host *host, struct luaweb_request *request,
                  uint32_t generation);

/* Likewise the date of If-Unmodified-Since, in seconds since 1970.  false: there is
 * none, or it does not count. */
bool luaweb_unmodified_since(struct luaweb_host *host, struct luaweb_request *request,
                             uint32_t generation, double *seconds);

/* The name of the row that was asked last, for messages; lent by the app. */
const char *luaweb_asked(struct luaweb_host *host, struct luaweb_request *request,
                         uint32_t generation);

#endif
