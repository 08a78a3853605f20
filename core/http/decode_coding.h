/* SPDX-License-Identifier: MIT
 *
 * What a content coding is to decode.c: a row of functions around a library. */
#ifndef LW_HTTP_DECODE_CODING_H
#define LW_HTTP_DECODE_CODING_H

#include "base/slice.h"

/* Room for octets, moved behind those that were written. */
struct lw_decode_room {
    char *data;
    size_t size;
};

struct lw_coding {
    const char *cut; /* the sentence for content that ends inside it */

    /* The state of a decoder, owned by the caller until `end`. */
    void *(*begin)(void);
    void (*end)(void *state);

    /* Decodes until all of *in is taken or *room is full; moves both on.
     *   0    content may follow; with a full *room also without more octets
     *   2    what was taken is complete; more may follow in the next call, if the
     *        coding has several streams in a row
     *   400  damaged, or more follows where nothing may; 413: it wants more memory
     *        than it may have; *why is a static sentence */
    int (*step)(void *state, struct luaweb_slice *in, struct lw_decode_room *room,
                const char **why);
};

extern const struct lw_coding lw_coding_gzip;    /* RFC 1952, several members too */
extern const struct lw_coding lw_coding_deflate; /* RFC 1950; RFC 1951 tolerated */
extern const struct lw_coding lw_coding_br;      /* RFC 7932 */
extern const struct lw_coding lw_coding_zstd;    /* RFC 8878, windows as RFC 9659 */

#endif
