/* SPDX-License-Identifier: MIT
 *
 * The codings that zlib knows.  "deflate" is a zlib stream, but some servers send it
 * without its head and checksum, and all browsers take both: the first two octets tell
 * them apart.  RFC 9110 §8.4.1.2, §8.4.1.3; RFC 1950 §2.2; RFC 1952 §2.2. */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/require.h"
#include "http/decode_coding.h"

#define RAW         (-MAX_WBITS)
#define WITH_HEAD   MAX_WBITS
#define GZIP_MEMBER (MAX_WBITS + 16)

struct inflater {
    z_stream stream;
    unsigned char start[2]; /* of "deflate" */
    uint32_t started;       /* octets of it */
    bool is_complete;       /* the stream, or the member, has ended */
};

static int refuse(int status, const char *sentence, const char **why)
{
    *why = sentence;
    return status;
}

static void open_stream(struct inflater *inflater, int window)
{
    int result = inflateInit2(&inflater->stream, window);
    lw_require(result == Z_OK); /* else out of memory */
}

static void *begin_gzip(void)
{
    struct inflater *inflater = lw_alloc(sizeof *inflater);
    *inflater = (struct inflater){0};
    open_stream(inflater, GZIP_MEMBER);
    return inflater;
}

/* The stream is opened when it is known which it is. */
static void *begin_deflate(void)
{
    struct inflater *inflater = lw_alloc(sizeof *inflater);
    *inflater = (struct inflater){0};
    return inflater;
}

static void end(void *state)
{
    struct inflater *inflater = state;
    (void)inflateEnd(&inflater->stream); /* says no when it was not opened */
    free(inflater);
}

/* Calls zlib once. */
static int run(struct inflater *inflater, struct luaweb_slice *in,
               struct lw_decode_room *room, const char **why)
{
    z_stream *stream = &inflater->stream;
    uInt size = in->size < UINT_MAX ? (uInt)in->size : UINT_MAX;
    stream->next_in = (z_const Bytef *)in->data;
    stream->avail_in = size;
    stream->next_out = (Bytef *)room->data;
    stream->avail_out = (uInt)room->size;
    int result = inflate(stream, Z_NO_FLUSH);
    lw_require(result != Z_MEM_ERROR && result != Z_STREAM_ERROR);
    lw_slice_skip(in, size - stream->avail_in);
    room->data += room->size - stream->avail_out;
    room->size = stream->avail_out;
    if (result == Z_NEED_DICT)
        return refuse(400, "its deflate stream wants a dictionary", why);
    if (result == Z_DATA_ERROR)
        return refuse(400, "its gzip or deflate stream is damaged", why);
    inflater->is_complete = result == Z_STREAM_END;
    return 0;
}

static int step_gzip(void *state, struct luaweb_slice *in, struct lw_decode_room *room,
                     const char **why)
{
    struct inflater *inflater = state;
    int status = 0;
    do {
        if (inflater->is_complete && in->size > 0) {
            if (in->data[0] != 0x1f) /* with which a member begins */
                return refuse(400, "something follows its gzip stream", why);
            (void)inflateReset(&inflater->stream);
            inflater->is_complete = false;
        }
        if (!inflater->is_complete)
            status = run(inflater, in, room, why);
    } while (status == 0 && in->size > 0 && room->size > 0);
    return status == 0 && inflater->is_complete ? 2 : status;
}

/* Whether these are the first octets of a zlib stream. */
static bool is_zlib_head(const unsigned char start[2])
{
    bool is_deflate = (start[0] & 15) == Z_DEFLATED;
    bool is_window = start[0] >> 4 <= MAX_WBITS - 8;
    return is_deflate && is_window && (start[0] * 256 + start[1]) % 31 == 0;
}

/* Collects the first two octets; when they are there, opens the stream with them. */
static int start_deflate(struct inflater *inflater, struct luaweb_slice *in,
                         struct lw_decode_room *room, const char **why)
{
    inflater->start[inflater->started++] = (unsigned char)in->data[0];
    lw_slice_skip(in, 1);
    if (inflater->started < sizeof inflater->start)
        return 0;
    open_stream(inflater, is_zlib_head(inflater->start) ? WITH_HEAD : RAW);
    struct luaweb_slice start = lw_slice((const char *)inflater->start, 2);
    int status = run(inflater, &start, room, why);
    lw_require(status || start.size == 0); /* no stream is shorter */
    return status;
}

static int step_deflate(void *state, struct luaweb_slice *in,
                        struct lw_decode_room *room, const char **why)
{
    struct inflater *inflater = state;
    int status = 0;
    while (status == 0 && in->size > 0 && inflater->started < sizeof inflater->start)
        status = start_deflate(inflater, in, room, why);
    if (status == 0 && !inflater->is_complete
        && inflater->started == sizeof inflater->start)
        status = run(inflater, in, room, why);
    if (status == 0 && inflater->is_complete && in->size > 0)
        return refuse(400, "something follows its deflate stream", why);
    return status == 0 && inflater->is_complete ? 2 : status;
}

const struct lw_coding lw_coding_gzip = {
    .cut = "it ends inside its gzip stream",
    .begin = begin_gzip,
    .end = end,
    .step = step_gzip,
};

const struct lw_coding lw_coding_deflate = {
    .cut = "it ends inside its deflate stream",
    .begin = begin_deflate,
    .end = end,
    .step = step_deflate,
};
