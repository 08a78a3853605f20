/* SPDX-License-Identifier: MIT
 *
 * The coding br.  Windows are those of RFC 7932, at most 16 MiB: the library's larger
 * ones stay off, as they are by default. */
#include <brotli/decode.h>

#include "base/require.h"
#include "http/decode_coding.h"

static void *begin(void)
{
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    lw_require(state); /* else out of memory */
    return state;
}

static void end(void *state)
{
    BrotliDecoderDestroyInstance(state);
}

static int refuse(int status, const char *sentence, const char **why)
{
    *why = sentence;
    return status;
}

static int step(void *state, struct luaweb_slice *in, struct lw_decode_room *room,
                const char **why)
{
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_SUCCESS;
    if (!BrotliDecoderIsFinished(state)) {
        const uint8_t *next_in = (const uint8_t *)in->data;
        uint8_t *next_out = (uint8_t *)room->data;
        size_t left = in->size;
        result = BrotliDecoderDecompressStream(state, &left, &next_in, &room->size,
                                               &next_out, NULL);
        lw_slice_skip(in, in->size - left);
        room->data = (char *)next_out;
    }
    if (result == BROTLI_DECODER_RESULT_ERROR)
        return refuse(400, "its br stream is damaged", why);
    if (result != BROTLI_DECODER_RESULT_SUCCESS)
        return 0;
    return in->size > 0 ? refuse(400, "something follows its br stream", why) : 2;
}

const struct lw_coding lw_coding_br = {
    .cut = "it ends inside its br stream",
    .begin = begin,
    .end = end,
    .step = step,
};
