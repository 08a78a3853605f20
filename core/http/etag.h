/* SPDX-License-Identifier: MIT
 *
 * Entity tags: whether one is well formed, whether two are equal, and what If-Match and
 * If-None-Match say of the current one.  Owns nothing.  Must never decide on a status:
 * what a match means depends on the method and on whether the resource exists.
 * RFC 9110 §8.8.3, §13.1.1, §13.1.2. */
#ifndef LW_HTTP_ETAG_H
#define LW_HTTP_ETAG_H

#include "base/slice.h"

/* Whether this is an entity tag, "..." or W/"...", with nothing around it.  Spaces and
 * control octets belong in no tag.  RFC 9110 §8.8.3. */
bool lw_etag_valid(struct luaweb_slice tag);

/* Whether an entity tag is marked as weak; the W is a capital one. */
bool lw_etag_is_weak(struct luaweb_slice tag);

/* Whether two tags are equal: strongly, when neither of them is weak and all octets are
 * the same (for If-Match and If-Range); weakly, when they are the same but for the mark
 * (for If-None-Match).  What is no entity tag, such as no octets at all, equals
 * nothing.  RFC 9110 §8.8.3.2. */
bool lw_etag_equal_strong(struct luaweb_slice a, struct luaweb_slice b);
bool lw_etag_equal_weak(struct luaweb_slice a, struct luaweb_slice b);

/* What a condition on tags says of the current one. */
enum lw_etag_match {
    LW_ETAG_ABSENT, /* there is no such field */
    LW_ETAG_STAR,   /* any tag will do, if only the resource exists */
    LW_ETAG_MATCH,  /* the current tag is in the list */
    LW_ETAG_OTHER   /* it is not, or the list is malformed */
};

/* Reads all lines of one field, which are one list; `bit` is LW_HAS_IF_MATCH or
 * LW_HAS_IF_NONE_MATCH.  `tag` is the current one, of size 0 when the resource has
 * none: then no list matches.  `is_strong` says how to compare.
 *
 * Quotes keep a member together: a comma in them does not divide, and one that holds a
 * space is no tag but takes none of the others with it.  Empty members are passed over.
 * Everything else that no list has (no quotes, open quotes, octets between a tag and
 * its comma, a star beside tags) spoils the list whole: it matches nothing, even where
 * the current tag could be read in it.  So an If-Match that makes no sense never holds,
 * and an If-None-Match that makes no sense never stands in for a representation.  Stars
 * alone, repeated, are a star.  RFC 9110 §13.1.1, §13.1.2, §5.6.1. */
enum lw_etag_match lw_etag_list(struct luaweb_fields headers, uint32_t bit,
                                struct luaweb_slice tag, bool is_strong);

#endif
