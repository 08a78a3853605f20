/* SPDX-License-Identifier: MIT
 *
 * What a client says it accepts: the members of a list, cut out of the fields, each
 * with its weight.  Owns nothing; slices point into the fields.  Knows the grammar of
 * the lists and nothing of what matches what.  RFC 9110 §12.4.2, §12.5, §5.6. */
#ifndef LW_HTTP_ACCEPT_LIST_H
#define LW_HTTP_ACCEPT_LIST_H

#include "base/slice.h"
#include "http/accept.h"

/* What is looked at in a list, whatever the client sends. */
#define LW_ACCEPT_OCTETS     4096 /* a line that passes it is left out */
#define LW_ACCEPT_MEMBERS    64   /* what follows is left out */
#define LW_ACCEPT_PARAMETERS 64   /* a member that passes it counts as malformed */
#define LW_ACCEPT_WHOLE      1000 /* the weight of a member that gives none */

enum lw_accept_state {
    LW_ACCEPT_UNREAD,
    LW_ACCEPT_READ,
    LW_ACCEPT_MALFORMED
};

struct lw_accept_member {
    struct luaweb_slice range;      /* a name or a star, not checked */
    struct luaweb_slice parameters; /* for lw_media_type_next, without the weight */
    uint32_t parameter_count;
    uint32_t weight; /* in thousandths */
    enum lw_accept_state state;
};

struct lw_accept_list {
    bool is_sent;             /* there is such a field */
    uint32_t count;           /* of members, none of them empty */
    uint32_t octets_left;     /* of LW_ACCEPT_OCTETS */
    uint32_t parameters_left; /* of LW_ACCEPT_PARAMETERS */
    struct lw_accept_member members[LW_ACCEPT_MEMBERS];
};

/* Cuts the fields of the dimension into members; `list` lends slices of them.  A fault
 * ends with its member, but a quote that is not closed takes its line with it. */
void lw_accept_read(enum lw_accept dimension, struct luaweb_fields headers,
                    struct lw_accept_list *list);

/* Reads what stands behind the range, once: before, only `range` is there.  Most
 * members match no offer, and are never read.  False: malformed.  RFC 9110 §12.4.2. */
bool lw_accept_read_member(struct lw_accept_list *list,
                           struct lw_accept_member *member);

/* Whether `range` has the form that it must have in the dimension. */
bool lw_accept_is_range(enum lw_accept dimension, struct luaweb_slice range);

#endif
