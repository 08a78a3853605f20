/* SPDX-License-Identifier: MIT
 *
 * The head that a connection sent last, if C answered it alone, and that answer.  What
 * the same octets ask of the same app is answered by the same octets, but for the date:
 * so that is copied, and nothing is parsed or decided.  Never for what Lua had a part
 * in, nor for requests with content. */
#ifndef LW_NET_REPEAT_H
#define LW_NET_REPEAT_H

#include <stdbool.h>

#include "base/abi.h"

#define LW_REPEAT_HEAD   512  /* octets; larger heads are not remembered */
#define LW_REPEAT_ANSWER 1024 /* likewise */

struct lw_conn;
struct lw_repeat;

/* Answers what lies first in the connection's read buffer, if it is that head again. */
bool lw_repeat_answer(struct lw_conn *conn);

/* Remembers a head (copied) and its answer, the last `size` octets to be sent. */
void lw_repeat_keep(struct lw_conn *conn, struct luaweb_slice head, size_t size);

/* Frees what is remembered. */
void lw_repeat_forget(struct lw_conn *conn);

#endif
