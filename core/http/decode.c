/* SPDX-License-Identifier: MIT
 *
 * The chain of codings: each stage pulls its octets from the one behind it, the last
 * from the caller, and counts what it gave.  RFC 9110 §8.4. */
#include "http/decode.h"

#include <stdlib.h>

#include "base/require.h"
#include "http/decode_coding.h"
#include "http/fields.h"

static const struct {
    struct luaweb_slice name;
    const struct lw_coding *coding; /* NULL: leaves all as it is */
} known[] = {
    {{"gzip", 4},     &lw_coding_gzip   },
    {{"x-gzip", 6},   &lw_coding_gzip   },
    {{"deflate", 7},  &lw_coding_deflate},
    {{"br", 2},       &lw_coding_br     },
    {{"zstd", 4},     &lw_coding_zstd   },
    {{"identity", 8}, NULL              },
};

struct stage {
    const struct lw_coding *coding;
    void *state;            /* owned */
    char *room;             /* owned: LW_DECODE_ROOM octets */
    struct luaweb_slice in; /* to be decoded; in the next stage's room */
    uint64_t taken;         /* octets */
    uint64_t given;         /* octets */
    bool is_complete;       /* what was taken has come to an end */
    bool is_full;           /* the room was: there may be more without more octets */
};

/* The stages in the order in which the codings were applied. */
struct lw_decoder {
    struct lw_decoder_limits limits;
    uint32_t count;
    uint64_t given;  /* where there are no stages */
    uint64_t silent; /* octets that all stages took since the first gave any */
    struct stage stages[LW_DECODE_DEPTH];
};

static int refuse(int status, const char *sentence, const char **why)
{
    *why = sentence;
    return status;
}

static bool add_stage(struct lw_decoder *decoder, const struct lw_coding *coding)
{
    if (!coding)
        return true;
    if (decoder->count == LW_DECODE_DEPTH)
        return false;
    decoder->stages[decoder->count++] = (struct stage){
        .coding = coding,
        .state = coding->begin(),
        .room = lw_alloc(LW_DECODE_ROOM),
        .in = {"", 0},
    };
    return true;
}

static bool add_coding(struct lw_decoder *decoder, struct luaweb_slice name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (lw_slice_equal_nocase(known[i].name, name))
            return add_stage(decoder, known[i].coding);
    return false;
}

struct lw_decoder *lw_decoder_new(struct luaweb_slice codings,
                                  const struct lw_decoder_limits *limits)
{
    struct lw_decoder *decoder = lw_alloc(sizeof *decoder);
    *decoder = (struct lw_decoder){.limits = *limits};
    struct luaweb_slice name;
    while (lw_list_next(&codings, &name))
        if (!add_coding(decoder, name)) {
            lw_decoder_free(decoder);
            return NULL;
        }
    return decoder;
}

void lw_decoder_free(struct lw_decoder *decoder)
{
    for (uint32_t i = 0; i < decoder->count; i++) {
        struct stage *stage = &decoder->stages[i];
        stage->coding->end(stage->state);
        free(stage->room);
    }
    free(decoder);
}

/* Whether what a stage gave is within the limits; the ratio is to what was received. */
static int check_limits(const struct lw_decoder *decoder, uint64_t given,
                        const char **why)
{
    uint64_t ratio = decoder->limits.ratio;
    if (given > decoder->limits.size)
        return refuse(413, "there is more of it than the limit", why);
    if (ratio == 0 || given <= LW_DECODE_FREE || decoder->count == 0)
        return 0;
    if (given / ratio > decoder->stages[decoder->count - 1].taken)
        return refuse(413, "there is far more of it than was received", why);
    return 0;
}

/* There are streams that take for ever and give nothing: empty members, frames that are
 * to be skipped.  Nobody else has a turn while they do. */
static int check_silence(struct lw_decoder *decoder, const struct stage *stage,
                         size_t taken, size_t given, const char **why)
{
    decoder->silent += taken;
    if (stage == decoder->stages && given > 0)
        decoder->silent = 0;
    if (decoder->silent > LW_DECODE_SILENT)
        return refuse(413, "too much of it in a row decodes to nothing", why);
    return 0;
}

/* Decodes once: what came out is *piece, which may be empty. */
static int run(struct lw_decoder *decoder, struct stage *stage,
               struct luaweb_slice *piece, const char **why)
{
    struct lw_decode_room room = {stage->room, LW_DECODE_ROOM};
    size_t size = stage->in.size;
    bool was_full = stage->is_full;
    int status = stage->coding->step(stage->state, &stage->in, &room, why);
    if (status > 2)
        return status;
    *piece = lw_slice(stage->room, LW_DECODE_ROOM - room.size);
    lw_require(was_full || piece->size > 0 || stage->in.size < size);
    stage->taken += size - stage->in.size;
    stage->given += piece->size;
    stage->is_complete = status == 2;
    stage->is_full = room.size == 0;
    status = check_silence(decoder, stage, size - stage->in.size, piece->size, why);
    return status ? status : check_limits(decoder, stage->given, why);
}

/* No more comes into a stage.  No content at all has no coding either, whatever its
 * head says: servers name the coding of the content that they could have sent. */
static int conclude(const struct stage *stage, const char **why)
{
    if (stage->is_complete || stage->taken == 0)
        return 2;
    return refuse(400, stage->coding->cut, why);
}

/* What lw_decoder_next gives, of the stages from `index` on. */
static int pull(struct lw_decoder *decoder, uint32_t index, bool is_last,
                struct luaweb_slice *piece, const char **why)
{
    struct stage *stage = &decoder->stages[index];
    for (;;) {
        int status = 0;
        if (stage->in.size > 0 || stage->is_full) {
            status = run(decoder, stage, piece, why);
            if (status || piece->size > 0)
                return status;
            continue;
        }
        if (index + 1 == decoder->count)
            status = is_last ? 2 : 1;
        else
            status = pull(decoder, index + 1, is_last, &stage->in, why);
        if (status == 2)
            return conclude(stage, why);
        if (status)
            return status;
    }
}

static int pass(struct lw_decoder *decoder, struct luaweb_slice *in, bool is_last,
                struct luaweb_slice *piece, const char **why)
{
    if (in->size == 0)
        return is_last ? 2 : 1;
    *piece = *in;
    lw_slice_skip(in, in->size);
    decoder->given += piece->size;
    return check_limits(decoder, decoder->given, why);
}

int lw_decoder_next(struct lw_decoder *decoder, struct luaweb_slice *in, bool is_last,
                    struct luaweb_slice *piece, const char **why)
{
    *piece = lw_slice("", 0);
    if (decoder->count == 0)
        return pass(decoder, in, is_last, piece, why);
    struct stage *last = &decoder->stages[decoder->count - 1];
    last->in = *in;
    int status = pull(decoder, 0, is_last, piece, why);
    *in = last->in;
    return status;
}
