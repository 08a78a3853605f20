/* SPDX-License-Identifier: MIT
 *
 * A media type, as in Content-Type, and the patterns it can be held against.  Owns
 * nothing; its slices point into the text that was parsed.  A malformed value is
 * refused whole, so that no half of it passes for a charset or a boundary.  RFC 9110
 * §8.3.1, §5.6.4, §5.6.6. */
#ifndef LW_HTTP_MEDIA_TYPE_H
#define LW_HTTP_MEDIA_TYPE_H

#include "base/slice.h"

struct lw_media_type {
    struct luaweb_slice name;       /* "text/html", in the case in which it came */
    struct luaweb_slice type;       /* "text" */
    struct luaweb_slice subtype;    /* "html" */
    struct luaweb_slice parameters; /* what follows, for lw_media_type_next */
};

/* Reads `text` into `media`, whose slices point into it and are lent as long as its
 * octets live.  Patterns ("text/" followed by a star) are read as well.  False, with
 * `media` left as it was, when `text` is no media type or one of its parameters is
 * malformed.  RFC 9110 §8.3.1. */
bool lw_media_type_parse(struct luaweb_slice text, struct lw_media_type *media);

/* Takes the next parameter off `rest` (at first the `parameters` of a media type).  The
 * name is in the case in which it came, the value raw, a quoted one with its quotes:
 * see lw_media_type_unquote.  Of repeated names the first is the one that counts.
 * False at the end, with `parameter` left as it was; and where no parameter can be
 * read, which the parameters of a parsed media type never have: then `rest` is not
 * empty.  RFC 9110 §5.6.6. */
bool lw_media_type_next(struct luaweb_slice *rest, struct luaweb_field *parameter);

/* Copies the value of a parameter into `out`, which has room for raw.size octets and
 * may be raw.data itself; returns how many were written.  Quotes and escapes are
 * removed; a token is copied as it is.  RFC 9110 §5.6.4. */
size_t lw_media_type_unquote(struct luaweb_slice raw, char *out);

/* Says whether `media` is what `pattern` asks for: the same type or any (a star), and
 * every parameter that the pattern has, with the same value.  Letter case counts in
 * values only, that of charset excepted.  What holds a star is a pattern itself and
 * matches nothing.  RFC 9110 §8.3.1, §8.3.2, §12.5.1. */
bool lw_media_type_match(const struct lw_media_type *media,
                         const struct lw_media_type *pattern);

#endif
