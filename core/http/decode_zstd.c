/* SPDX-License-Identifier: MIT
 *
 * The coding zstd: frames in a row, whose windows have at most 8 MiB (RFC 9659 §3), so
 * that a head of a few octets can't claim more memory.  Frames of the formats before
 * RFC 8878, which the library may know, are refused. */
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/require.h"
#include "http/decode_coding.h"

#define WINDOW_LOG 23 /* 8 MiB */
#define HEAD_SIZE  18 /* octets of the head of a frame at most */

struct unpacker {
    ZSTD_DCtx *context;
    bool is_inside; /* a frame has begun and not ended */
    uint64_t given; /* octets of the frame so far */
    size_t head_size;
    char head[HEAD_SIZE]; /* what the frame begins with */
};

static void *begin(void)
{
    struct unpacker *unpacker = lw_alloc(sizeof *unpacker);
    *unpacker = (struct unpacker){.context = ZSTD_createDCtx()};
    lw_require(unpacker->context); /* else out of memory */
    size_t result =
        ZSTD_DCtx_setParameter(unpacker->context, ZSTD_d_windowLogMax, WINDOW_LOG);
    lw_require(!ZSTD_isError(result));
    return unpacker;
}

static void end(void *state)
{
    struct unpacker *unpacker = state;
    ZSTD_freeDCtx(unpacker->context);
    free(unpacker);
}

static int refuse(int status, const char *sentence, const char **why)
{
    *why = sentence;
    return status;
}

/* Whether a frame of RFC 8878 §3.1 may begin with this octet: with content, or to be
 * skipped. */
static bool begins_frame(char octet)
{
    return octet == 0x28 || ((unsigned char)octet & 0xf0) == 0x50;
}

/* Counts what the library took and gave of a frame. */
static void count(struct unpacker *unpacker, struct luaweb_slice taken, size_t given)
{
    size_t size = HEAD_SIZE - unpacker->head_size;
    if (!unpacker->is_inside) {
        unpacker->given = 0;
        unpacker->head_size = 0;
        size = HEAD_SIZE;
    }
    if (size > taken.size)
        size = taken.size;
    memcpy(unpacker->head + unpacker->head_size, taken.data, size);
    unpacker->head_size += size;
    unpacker->given += given;
}

/* Whether a frame that has ended has the size that its head says, if it does: the
 * library does not look when the last block is empty. */
static bool has_its_size(const struct unpacker *unpacker)
{
    unsigned long long size =
        ZSTD_getFrameContentSize(unpacker->head, unpacker->head_size);
    return size == ZSTD_CONTENTSIZE_UNKNOWN || size == unpacker->given;
}

/* Calls the library once: until a frame ends, all is taken, or there is no room. */
static int run(struct unpacker *unpacker, struct luaweb_slice *in,
               struct lw_decode_room *room, const char **why)
{
    ZSTD_inBuffer from = {in->data, in->size, 0};
    ZSTD_outBuffer to = {room->data, room->size, 0};
    size_t result = ZSTD_decompressStream(unpacker->context, &to, &from);
    if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge)
        return refuse(413, "its zstd window is larger than 8 MiB", why);
    if (ZSTD_isError(result))
        return refuse(400, "its zstd frame is damaged", why);
    count(unpacker, lw_slice(in->data, from.pos), to.pos);
    lw_slice_skip(in, from.pos);
    room->data += to.pos;
    room->size -= to.pos;
    unpacker->is_inside = result != 0;
    if (!unpacker->is_inside && !has_its_size(unpacker))
        return refuse(400, "its zstd frame has another size than it says", why);
    return 0;
}

static int step(void *state, struct luaweb_slice *in, struct lw_decode_room *room,
                const char **why)
{
    struct unpacker *unpacker = state;
    int status = 0;
    do {
        if (!unpacker->is_inside && in->size == 0)
            return 2;
        if (!unpacker->is_inside && !begins_frame(in->data[0]))
            return refuse(400, "its zstd frames begin or go on with something else",
                          why);
        status = run(unpacker, in, room, why);
    } while (status == 0 && in->size > 0 && room->size > 0);
    return status == 0 && !unpacker->is_inside ? 2 : status;
}

const struct lw_coding lw_coding_zstd = {
    .cut = "it ends inside a zstd frame",
    .begin = begin,
    .end = end,
    .step = step,
};
