/* SPDX-License-Identifier: MIT
 *
 * The chunked transfer coding, taken off in place.  Owns the position in the coding and
 * nothing else; content is lent as slices of the octets given.  Strict: lines end in
 * CRLF and sizes are hexadecimal digits, since every freedom here lets two readers see
 * two different messages.  RFC 9112 §7.1. */
#ifndef LW_HTTP_CHUNKED_H
#define LW_HTTP_CHUNKED_H

#include "base/slice.h"
#include "http/fields.h"

/* Zero at the start of a body; only lw_chunked_next changes it. */
struct lw_chunked {
    uint64_t left;       /* octets of the chunk still to come */
    size_t extensions;   /* octets of chunk extensions so far */
    struct lw_scan scan; /* of the trailer section */
    uint32_t digits;     /* of the size so far */
    uint32_t state;
};

/* The customary values are 4 KiB and 8 KiB. */
struct lw_chunked_limits {
    size_t extensions; /* octets of chunk extensions in the whole body (400) */
    size_t trailers;   /* octets of the trailer section (431) */
};

/* Reads on in `data`.  The caller drops *used octets of it (after it has used *piece,
 * which lies in them) before the next call.
 *   0      *piece is content, never empty; call again
 *   1      need more octets; *used are done with all the same.  The trailer section
 *          must lie in one piece: until it is whole its octets are not used
 *   2      the body is complete; *piece is the trailer section with its blank line, for
 *          lw_fields_parse ("\r\n" when there are no trailers)
 *   >=100  the status to answer (400, 431), then the connection must close; *why is a
 *          static sentence */
int lw_chunked_next(struct lw_chunked *chunked, struct luaweb_slice data,
                    const struct lw_chunked_limits *limits, size_t *used,
                    struct luaweb_slice *piece, const char **why);

#endif
