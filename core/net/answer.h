/* SPDX-License-Identifier: MIT
 *
 * Between a walk and its response: what C answers alone, and what it adds to what Lua
 * answers. */
#ifndef LW_NET_ANSWER_H
#define LW_NET_ANSWER_H

#include "net/request.h"

/* Goes on with the request's walk: the function that is to be called, or 0: C has
 * answered, and the request is over. */
uint32_t lw_answer_walk(struct lw_request *request);

/* Answers with a status and its short default body, where no walk has come to an
 * end. */
void lw_answer_status(struct lw_request *request, int status);

/* Answers that there is too much to do (503). */
void lw_answer_busy(struct lw_request *request);

/* Ends a request that Lua has given up: with a 500, or the end of the answer that has
 * begun. */
void lw_answer_failure(struct lw_request *request);

/* What Lua has for a response. */
struct lw_content_of_lua {
    int status;               /* that the app wants, or 0 */
    struct luaweb_slice type; /* data NULL: none given */
    double size;              /* < 0: not known */
};

/* Finds status and type of a response with Lua's content, and adds the machine's
 * fields.
 *   LUAWEB_REPLY_OK       response->status and type are what is to be sent
 *   LUAWEB_REPLY_ASK, _PART   Lua has to do that first, and to come again
 *   LUAWEB_REPLY_INSTEAD  no range fits, and Lua has something to say to that
 *   LUAWEB_REPLY_NO_BODY  C has answered instead */
int lw_answer_with(struct lw_request *request, const struct lw_content_of_lua *content,
                   struct lw_response *response);

#endif
