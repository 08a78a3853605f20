/* SPDX-License-Identifier: MIT
 *
 * Takes content codings off, as the content comes: gzip, deflate, br, zstd, and a few of
 * them one in the other.  Owns the state of each and the octets that it has decoded.
 * Content that ends inside its coding, goes on behind it, or is damaged is refused, and
 * so is what a few octets blow up beyond the limits.  RFC 9110 §8.4, RFC 9659. */
#ifndef LW_HTTP_DECODE_H
#define LW_HTTP_DECODE_H

#include "base/slice.h"

#define LW_DECODE_ROOM   16384   /* octets of one piece at most */
#define LW_DECODE_FREE   1048576 /* octets decoded before the ratio counts */
#define LW_DECODE_SILENT 4194304 /* octets in a row that give nothing */
#define LW_DECODE_DEPTH  3       /* codings, one in the other */

struct lw_decoder;

/* They hold for the octets that each of the codings gives. */
struct lw_decoder_limits {
    uint64_t size;  /* octets */
    uint64_t ratio; /* octets for each that was put in, behind LW_DECODE_FREE; 0: any */
};

/* For the codings that a Content-Encoding value names, the last one applied last;
 * identity and none at all are fine.  The caller owns it (lw_decoder_free).
 * NULL: a coding is not known, or there are more than LW_DECODE_DEPTH. */
struct lw_decoder *lw_decoder_new(struct luaweb_slice codings,
                                  const struct lw_decoder_limits *limits);
void lw_decoder_free(struct lw_decoder *decoder);

/* Decodes on.  *in is moved behind what was taken of it; `is_last`: nothing follows.
 *   0    *piece is content, never empty, lent until the next call (or as long as *in
 *        is); call again
 *   1    all of *in is taken: call again with more, or to say that it was all
 *   2    the content is complete
 *   400  it is cut short, damaged, or more follows; 413: a limit is passed; *why is a
 *        static sentence, and the decoder is of no more use */
int lw_decoder_next(struct lw_decoder *decoder, struct luaweb_slice *in, bool is_last,
                    struct luaweb_slice *piece, const char **why);

#endif
