/* SPDX-License-Identifier: MIT
 *
 * The field lines that a connection sent last, and what they said: a client sends the
 * same lines again and again, and the same octets mean the same.  Small ones only, that
 * announce no content.  It owns its octets; it must never be used for two connections,
 * nor judge anything by itself: head.c says when it is asked. */
#ifndef LW_HTTP_MEMO_H
#define LW_HTTP_MEMO_H

#include "http/head.h"

#define LW_MEMO_FIELDS 16
#define LW_MEMO_SIZE   512

/* Where a slice lies in the lines. */
struct lw_memo_part {
    uint16_t at;
    uint16_t size;
};

/* Zeroed, it remembers nothing. */
struct lw_head_memo {
    uint32_t size; /* octets of the lines with the blank one; 0: nothing */
    uint32_t field_count;
    uint32_t present;
    uint32_t minor_version; /* of the request line above them */
    bool keep_alive;
    struct lw_memo_part host;
    struct lw_memo_part names[LW_MEMO_FIELDS];
    struct lw_memo_part values[LW_MEMO_FIELDS];
    char lines[LW_MEMO_SIZE];
};

/* Whether `octets` begin with the lines. */
bool lw_memo_begins(const struct lw_head_memo *memo, struct luaweb_slice octets);

/* Copies the lines and what they said; forgets them where they are too many. */
void lw_memo_keep(struct lw_head_memo *memo, const struct lw_head *head,
                  struct luaweb_slice lines);

/* Fills in what the same lines say at another place; `head` has its request line read
 * and room for the fields.  False: the version is another one. */
bool lw_memo_recall(const struct lw_head_memo *memo, struct lw_head *head,
                    const char *lines);

#endif
