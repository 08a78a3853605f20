/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the chunked coding.  Where the octets are cut makes no difference to content,
 * trailer section and end; pieces lie in the input one behind the other.
 * RFC 9112 §7.1. */
#include "base/require.h"
#include "http/chunked.h"

enum {
    MOST = 1 << 16
};

static const struct lw_chunked_limits limits = {64, 256};

/* What has been decoded. */
struct decoding {
    char content[MOST];
    size_t content_size;
    struct luaweb_slice trailers;
    size_t used;
    int status;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_piece(struct decoding *decoding, struct luaweb_slice input,
                       struct luaweb_slice piece)
{
    lw_require(piece.data >= input.data);
    lw_require(piece.data + piece.size <= input.data + input.size);
    if (decoding->status == 0) {
        lw_require(piece.size > 0 && decoding->content_size + piece.size <= MOST);
        memcpy(decoding->content + decoding->content_size, piece.data, piece.size);
        decoding->content_size += piece.size;
    }
    if (decoding->status == 2)
        decoding->trailers = piece;
}

/* Decodes with `step` octets more each time that more are wanted. */
static void decode(struct decoding *decoding, struct luaweb_slice all, size_t step)
{
    struct lw_chunked chunked = {0};
    size_t come = 0;
    *decoding = (struct decoding){.status = 1};
    while (decoding->status < 2) {
        if (decoding->status == 1 && come == all.size)
            return;
        if (decoding->status == 1)
            come = all.size - come > step ? come + step : all.size;
        struct luaweb_slice input =
            lw_slice(all.data + decoding->used, come - decoding->used);
        struct luaweb_slice piece;
        const char *why = NULL;
        size_t used = 0;
        decoding->status =
            lw_chunked_next(&chunked, input, &limits, &used, &piece, &why);
        lw_require(used <= input.size && (decoding->status < 100 || why));
        take_piece(decoding, lw_slice(input.data, used), piece);
        decoding->used += used;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct decoding once, slow;
    struct luaweb_slice all = lw_slice((const char *)data, size);
    if (size == 0 || size > MOST)
        return 0;
    decode(&once, all, size);
    lw_require(once.content_size <= once.used && once.used <= size);
    for (size_t step = 1; step < 4; step++) {
        decode(&slow, all, step);
        lw_require(once.status == slow.status);
        lw_require(once.content_size == slow.content_size);
        lw_require(memcmp(once.content, slow.content, once.content_size) == 0);
        lw_require(lw_slice_equal(once.trailers, slow.trailers));
        lw_require(once.status >= 100 || once.used == slow.used);
    }
    return 0;
}
