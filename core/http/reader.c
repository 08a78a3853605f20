/* SPDX-License-Identifier: MIT
 *
 * The reader of responses: a small machine whose states are what is read next.
 * RFC 9112 §6.3, §8. */
#include "http/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/require.h"
#include "http/chunked.h"
#include "http/decode.h"
#include "http/response.h"

enum state {
    IDLE,     /* no response is expected */
    HEAD,     /* of the response, or of an interim one */
    LENGTH,   /* content whose length is known */
    CHUNKED,  /* content in chunks */
    CLOSE,    /* content until the connection ends */
    COMPLETE, /* all content has been lent */
    SWITCHED, /* what follows is no HTTP */
    FAILED    /* see `failure` */
};

struct luaweb_reader {
    struct lw_fields_limits limits;
    enum state state;
    enum lw_response_to to;
    bool switches;   /* a 101 is welcome */
    bool keep_alive; /* the server wishes it */
    bool is_lost;    /* the connection was reset */
    const char *end; /* how the connection ended: a word, or NULL */
    int failure;     /* enum luaweb_reader_result, below 0 */
    uint32_t interims;
    uint32_t field_count;        /* of the head, then of the trailers */
    struct luaweb_field *fields; /* owned */
    struct lw_blocks blocks;     /* keeps none: connections at rest hold no memory */
    struct lw_buffer buffer;     /* what is not read yet */
    struct lw_scan scan;
    struct lw_chunked chunked;
    uint64_t length;            /* of the content, with LENGTH */
    uint64_t came;              /* octets of content so far, as they are on the wire */
    struct lw_decoder *decoder; /* owned, or NULL */
    struct luaweb_slice undecoded; /* in the buffer, behind what it counts */
    char error[160];
};

struct luaweb_reader *lw_reader_new(const struct lw_fields_limits *limits)
{
    struct luaweb_reader *reader = lw_alloc(sizeof *reader);
    *reader = (struct luaweb_reader){.limits = *limits};
    lw_blocks_construct(&reader->blocks, 0);
    return reader;
}

/* Gives back what belongs to one response. */
static void forget_response(struct luaweb_reader *reader)
{
    free(reader->fields);
    reader->fields = NULL;
    reader->field_count = 0;
    if (reader->decoder)
        lw_decoder_free(reader->decoder);
    reader->decoder = NULL;
    reader->undecoded = lw_slice("", 0);
}

void lw_reader_free(struct luaweb_reader *reader)
{
    forget_response(reader);
    lw_buffer_release(&reader->buffer, &reader->blocks);
    free(reader);
}

void lw_reader_begin(struct luaweb_reader *reader, struct luaweb_slice method,
                     bool switches)
{
    if (reader->state == FAILED)
        return;
    lw_require(reader->state == IDLE || reader->state == COMPLETE);
    forget_response(reader);
    reader->state = HEAD;
    reader->to = lw_response_to(method);
    reader->switches = switches;
    reader->interims = 0;
    reader->came = 0;
    reader->scan = (struct lw_scan){0};
    reader->chunked = (struct lw_chunked){0};
}

static struct luaweb_slice unread(const struct luaweb_reader *reader)
{
    size_t size = lw_buffer_size(&reader->buffer);
    return lw_slice(size ? reader->buffer.data + reader->buffer.start : "", size);
}

uint32_t lw_reader_feed(struct luaweb_reader *reader, struct luaweb_slice octets)
{
    size_t most = reader->limits.size + LUAWEB_READER_TRAILERS + LUAWEB_READER_FEED;
    size_t room = most - lw_buffer_size(&reader->buffer);
    if (octets.size > room)
        octets.size = room;
    if (reader->end || reader->undecoded.size > 0)
        return 0; /* moving the octets would take those from the decoder */
    lw_buffer_append(&reader->buffer, &reader->blocks, octets.data, octets.size);
    return (uint32_t)octets.size;
}

void lw_reader_end(struct luaweb_reader *reader, bool is_lost)
{
    reader->end = is_lost ? "was lost" : "ended";
    reader->is_lost = is_lost;
}

static int fail(struct luaweb_reader *reader, int result)
{
    reader->state = FAILED;
    reader->failure = result;
    return result;
}

static int refuse(struct luaweb_reader *reader, int status, const char *why)
{
    bool is_large = status != 400;
    snprintf(reader->error, sizeof reader->error, "the response is refused: %s", why);
    return fail(reader, is_large ? LUAWEB_READER_TOO_LARGE : LUAWEB_READER_MALFORMED);
}

static int fail_decoding(struct luaweb_reader *reader, int status, const char *why)
{
    bool is_large = status != 400;
    snprintf(reader->error, sizeof reader->error, "the content can't be decoded: %s",
             why);
    return fail(reader, is_large ? LUAWEB_READER_TOO_LARGE : LUAWEB_READER_UNDECODED);
}

static int fail_head(struct luaweb_reader *reader)
{
    size_t size = lw_buffer_size(&reader->buffer);
    bool is_silent = size == 0 && reader->interims == 0;
    if (is_silent)
        snprintf(reader->error, sizeof reader->error,
                 "the connection %s before the response began", reader->end);
    else
        snprintf(reader->error, sizeof reader->error,
                 "the connection %s inside the head of the response, of which %zu "
                 "octets are here, behind %" PRIu32 " interim responses",
                 reader->end, size, reader->interims);
    return fail(reader, is_silent ? LUAWEB_READER_SILENT : LUAWEB_READER_CUT);
}

static int fail_content(struct luaweb_reader *reader)
{
    if (reader->state == LENGTH)
        snprintf(reader->error, sizeof reader->error,
                 "the connection %s early: %" PRIu64 " of %" PRIu64
                 " octets of content are missing",
                 reader->end, reader->length - reader->came, reader->length);
    else
        snprintf(reader->error, sizeof reader->error,
                 "the connection %s early, behind %" PRIu64
                 " octets of content: its end is missing",
                 reader->end, reader->came);
    return fail(reader, LUAWEB_READER_CUT);
}

/* Octets are missing: waits for them, or says which will not come. */
static int await(struct luaweb_reader *reader)
{
    if (!reader->end)
        return LUAWEB_READER_WAIT;
    if (reader->state == HEAD)
        return fail_head(reader);
    if (reader->state != CLOSE || reader->is_lost)
        return fail_content(reader);
    reader->state = COMPLETE;
    return LUAWEB_READER_END;
}

/* Makes room for the field lines of `scan`, beside which `others` are counted. */
static uint32_t make_fields(struct luaweb_reader *reader, const struct lw_scan *scan,
                            uint32_t others)
{
    uint32_t count = scan->lines - others;
    reader->fields = lw_realloc(reader->fields, count * sizeof *reader->fields);
    return count;
}

static void start_content(struct luaweb_reader *reader,
                          const struct lw_response_head *response)
{
    static const enum state states[] = {
        [LW_RESPONSE_EMPTY] = COMPLETE,
        [LW_RESPONSE_LENGTH] = LENGTH,
        [LW_RESPONSE_CHUNKED] = CHUNKED,
        [LW_RESPONSE_CLOSE] = CLOSE,
    };
    reader->state = states[response->content];
    reader->length = response->content_length;
    reader->keep_alive = response->keep_alive;
    if (reader->state == LENGTH && reader->length == 0)
        reader->state = COMPLETE;
}

/* What is to be done with a head that has been read. */
static int take_head(struct luaweb_reader *reader,
                     const struct lw_response_head *response)
{
    bool is_tunnel =
        reader->to == LW_RESPONSE_TO_CONNECT && response->status / 100 == 2;
    if (response->status == 101 && !reader->switches)
        return refuse(reader, 400, "it switches to a protocol that nobody asked for");
    if (response->status == 101 || is_tunnel) {
        reader->state = SWITCHED;
        return LUAWEB_READER_GIVEN;
    }
    if (response->status < 200) {
        if (++reader->interims > LUAWEB_READER_INTERIMS)
            return refuse(reader, 431, "there are too many interim responses");
        return LUAWEB_READER_INTERIM;
    }
    start_content(reader, response);
    return LUAWEB_READER_GIVEN;
}

static void describe(const struct luaweb_reader *reader,
                     const struct lw_response_head *response,
                     struct luaweb_response_head *head)
{
    *head = (struct luaweb_response_head){
        .status = response->status,
        .minor_version = response->minor_version,
        .interims = reader->interims,
        .has_content = reader->state >= LENGTH && reader->state < COMPLETE,
        .keep_alive = response->keep_alive,
        .is_switched = reader->state == SWITCHED,
        .length = response->has_length ? (double)response->content_length : -1,
        .reason = response->reason,
        .headers = {response->fields, response->field_count},
    };
}

int lw_reader_head(struct luaweb_reader *reader, struct luaweb_response_head *head)
{
    if (reader->state == FAILED)
        return reader->failure;
    lw_require(reader->state == HEAD);
    const char *why = NULL;
    struct luaweb_slice octets = unread(reader);
    int status = lw_response_scan(&reader->scan, octets, &reader->limits, &why);
    if (status == 1)
        return await(reader);
    struct lw_response_head response = {0};
    if (status == 0) {
        response.field_capacity = make_fields(reader, &reader->scan, 2);
        response.fields = reader->fields;
        status =
            lw_response_parse(&reader->scan, octets.data, reader->to, &response, &why);
    }
    if (status)
        return refuse(reader, status, why);
    lw_buffer_consume(&reader->buffer, reader->scan.at);
    reader->scan = (struct lw_scan){0};
    int result = take_head(reader, &response);
    describe(reader, &response, head);
    return result;
}

bool lw_reader_decode(struct luaweb_reader *reader, struct luaweb_slice codings,
                      const struct lw_decoder_limits *limits)
{
    if (reader->state == FAILED)
        return true; /* which the body will tell */
    lw_require(reader->state >= LENGTH && reader->state <= COMPLETE);
    lw_require(!reader->decoder && reader->came == 0);
    reader->decoder = lw_decoder_new(codings, limits);
    return reader->decoder != NULL;
}

/* The next content with a known length, or until the end. */
static int take_plain(struct luaweb_reader *reader, struct luaweb_slice *piece)
{
    *piece = unread(reader);
    if (piece->size == 0)
        return await(reader);
    if (reader->state == LENGTH && piece->size >= reader->length - reader->came) {
        piece->size = (size_t)(reader->length - reader->came);
        reader->state = COMPLETE;
    }
    lw_buffer_consume(&reader->buffer, piece->size);
    return LUAWEB_READER_GIVEN;
}

static int take_trailers(struct luaweb_reader *reader, struct luaweb_slice lines)
{
    const char *why = NULL;
    uint32_t count = make_fields(reader, &reader->chunked.scan, 1);
    if (count > reader->limits.count)
        return refuse(reader, 431, "there are too many trailers");
    int status = lw_fields_parse(lines.data, lines.size, reader->fields, &count, &why);
    if (status)
        return refuse(reader, status, why);
    reader->field_count = count;
    reader->state = COMPLETE;
    return LUAWEB_READER_END;
}

static int take_chunked(struct luaweb_reader *reader, struct luaweb_slice *piece)
{
    static const struct lw_chunked_limits limits = {LUAWEB_READER_EXTENSIONS,
                                                    LUAWEB_READER_TRAILERS};
    const char *why = NULL;
    size_t used = 0;
    int status =
        lw_chunked_next(&reader->chunked, unread(reader), &limits, &used, piece, &why);
    lw_buffer_consume(&reader->buffer, used);
    if (status == 1)
        return await(reader);
    if (status == 2)
        return take_trailers(reader, *piece);
    return status ? refuse(reader, status, why) : LUAWEB_READER_GIVEN;
}

/* The next content as it is on the wire. */
static int take_content(struct luaweb_reader *reader, struct luaweb_slice *piece)
{
    int result = LUAWEB_READER_END;
    if (reader->state == CHUNKED)
        result = take_chunked(reader, piece);
    else if (reader->state != COMPLETE)
        result = take_plain(reader, piece);
    if (result == LUAWEB_READER_GIVEN)
        reader->came += piece->size;
    else
        *piece = lw_slice("", 0);
    return result;
}

static int take_decoded(struct luaweb_reader *reader, struct luaweb_slice *piece)
{
    const char *why = NULL;
    for (;;) {
        int status = lw_decoder_next(reader->decoder, &reader->undecoded,
                                     reader->state == COMPLETE, piece, &why);
        if (status == 0)
            return LUAWEB_READER_GIVEN;
        if (status == 2)
            return LUAWEB_READER_END;
        if (status > 2)
            return fail_decoding(reader, status, why);
        int result = take_content(reader, &reader->undecoded);
        if (result < 0 || result == LUAWEB_READER_WAIT)
            return result;
    }
}

int lw_reader_body(struct luaweb_reader *reader, struct luaweb_slice *piece)
{
    *piece = lw_slice("", 0);
    if (reader->state == FAILED)
        return reader->failure;
    lw_require(reader->state >= LENGTH && reader->state <= COMPLETE);
    return reader->decoder ? take_decoded(reader, piece) : take_content(reader, piece);
}

struct luaweb_fields lw_reader_trailers(const struct luaweb_reader *reader)
{
    return (struct luaweb_fields){reader->fields, reader->field_count};
}

struct luaweb_slice lw_reader_rest(struct luaweb_reader *reader)
{
    struct luaweb_slice rest = unread(reader);
    lw_buffer_consume(&reader->buffer, rest.size);
    return rest;
}

bool lw_reader_done(struct luaweb_reader *reader)
{
    bool is_clean = reader->state == COMPLETE && reader->keep_alive && !reader->end
                    && lw_buffer_size(&reader->buffer) == 0;
    forget_response(reader);
    lw_buffer_release(&reader->buffer, &reader->blocks);
    if (is_clean)
        reader->state = IDLE;
    else if (reader->state != FAILED)
        refuse(reader, 400, "its connection can't be used again");
    return is_clean;
}

const char *lw_reader_error(const struct luaweb_reader *reader)
{
    return reader->error;
}
