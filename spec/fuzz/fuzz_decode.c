/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the content codings: the first octet says which, the second how the others are
 * cut.  That makes no difference to content that is complete, and none to whether it is,
 * but for zstd: libzstd refuses an empty compressed block when the frame comes as a
 * whole, and else takes it.  Never is more lent than the limit, nor far more than was put
 * in.  RFC 9110 §8.4. */
#include <stdlib.h>

#include "base/require.h"
#include "http/decode.h"

enum {
    LIMIT = 3 << 20, /* octets of content */
    RATIO = 1100     /* octets for each; more than deflate can */
};

static const struct luaweb_slice codings[] = {
    {"gzip",         4 },
    {"deflate",      7 },
    {"br",           2 },
    {"zstd",         4 },
    {"",             0 },
    {"gzip, br",     8 },
    {"deflate,gzip", 12},
    {"br,zstd,gzip", 12},
};

struct decoding {
    char content[LIMIT];
    size_t size;
    int status;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(struct decoding *decoding, struct luaweb_slice piece, size_t come)
{
    lw_require(piece.size > 0 && piece.size <= LIMIT - decoding->size);
    memcpy(decoding->content + decoding->size, piece.data, piece.size);
    decoding->size += piece.size;
    lw_require(decoding->size <= LW_DECODE_FREE || decoding->size / RATIO <= come);
}

/* Decodes with `step` octets more each time that more are wanted; they are copied, so
 * that reading behind them is noticed. */
static void decode(struct decoding *decoding, struct luaweb_slice names,
                   struct luaweb_slice octets, size_t step)
{
    static const struct lw_decoder_limits limits = {LIMIT, RATIO};
    struct lw_decoder *decoder = lw_decoder_new(names, &limits);
    struct luaweb_slice in = {"", 0};
    struct luaweb_slice piece;
    size_t come = 0;
    char *copy = NULL;
    const char *why = NULL;
    lw_require(decoder);
    decoding->size = 0;
    do {
        decoding->status =
            lw_decoder_next(decoder, &in, come == octets.size, &piece, &why);
        if (decoding->status == 0)
            take(decoding, piece, come);
        if (decoding->status == 1) {
            lw_require(in.size == 0 && come < octets.size);
            size_t size = octets.size - come < step ? octets.size - come : step;
            free(copy);
            copy = lw_alloc(size);
            memcpy(copy, octets.data + come, size);
            in = lw_slice(copy, size);
            come += size;
        }
    } while (decoding->status < 2);
    lw_require(decoding->status == 2 || (decoding->status >= 400 && why));
    free(copy);
    lw_decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct decoding once, slow;
    if (size < 2)
        return 0;
    struct luaweb_slice names = codings[data[0] % (sizeof codings / sizeof *codings)];
    struct luaweb_slice octets = lw_slice((const char *)data + 2, size - 2);
    decode(&once, names, octets, size);
    decode(&slow, names, octets, 1 + data[1]);
    bool has_zstd = memmem(names.data, names.size, "zstd", 4);
    lw_require(has_zstd || (once.status == 2) == (slow.status == 2));
    size_t both = once.size < slow.size ? once.size : slow.size;
    lw_require(memcmp(once.content, slow.content, both) == 0);
    lw_require(once.status != 2 || slow.status != 2 || once.size == slow.size);
    return 0;
}
