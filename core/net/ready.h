/* SPDX-License-Identifier: MIT
 *
 * The path of --health among those of the app: whether this worker is ready or ends.  It
 * comes before the app's resources, and asks Lua nothing. */
#ifndef LW_NET_READY_H
#define LW_NET_READY_H

#include <stdbool.h>

#include "base/slice.h"
#include "net/loop.h"

struct lw_request;

/* Whether a request for this path is for it. */
static inline bool lw_ready_is_asked(const struct lw_loop *loop,
                                     struct luaweb_slice path)
{
    return loop->health.size > 0 && lw_slice_equal(path, loop->health);
}

/* Answers 200, or while the worker drains 503 with Retry-After; 405 to other methods than
 * GET and HEAD.  It is counted by its path, and not in the access log. */
void lw_ready_answer(struct lw_request *request);

#endif
