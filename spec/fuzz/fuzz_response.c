/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the reading of responses: the first octet says which methods they answer, the
 * others are what a server sends before it ends.  Where they are cut makes no difference
 * to heads, content, trailers, and what is said of the end; what is read has no control
 * octets; content is as long as its length says.  RFC 9112 §4, §6, §7.1. */
#include "base/require.h"
#include "http/reader.h"

enum {
    MOST = 1 << 16,     /* octets of input */
    ROUNDS = 4,         /* responses in a row */
    PARTS = ROUNDS * 50 /* heads and ends that are noted at most */
};

static const struct lw_fields_limits limits = {256, 8};

/* What came out of a reader. */
struct story {
    char text[2 * MOST + 512 * PARTS];
    size_t size;
};

/* What a reader is fed from. */
struct source {
    struct luaweb_slice rest;
    size_t step;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(struct story *story, struct luaweb_slice text)
{
    lw_require(text.size <= sizeof story->text - story->size);
    memcpy(story->text + story->size, text.data, text.size);
    story->size += text.size;
}

static void note_number(struct story *story, double number)
{
    note(story, lw_slice((const char *)&number, sizeof number));
}

static void note_text(struct story *story, struct luaweb_slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char octet = (unsigned char)text.data[i];
        lw_require(octet == '\t' || (octet >= ' ' && octet != 0x7f));
    }
    note(story, text);
    note_number(story, (double)text.size);
}

static void note_fields(struct story *story, struct luaweb_fields fields)
{
    lw_require(fields.count <= limits.count);
    for (uint32_t i = 0; i < fields.count; i++) {
        struct luaweb_slice name = fields.list[i].name;
        lw_require(name.size > 0 && lw_token_size(name.data, name.size) == name.size);
        note_text(story, name);
        note_text(story, fields.list[i].value);
    }
}

static void note_head(struct story *story, const struct luaweb_response_head *head)
{
    lw_require(head->status >= 100 && head->status <= 599 && head->minor_version <= 1);
    lw_require(head->interims <= LUAWEB_READER_INTERIMS);
    note_number(story, head->status);
    note_number(story, head->minor_version + 2 * head->keep_alive);
    note_number(story, head->has_content + 2 * head->is_switched);
    note_number(story, head->length);
    note_text(story, head->reason);
    note_fields(story, head->headers);
}

/* What the reader waits for. */
static void feed(struct luaweb_reader *reader, struct source *source)
{
    size_t size = source->rest.size < source->step ? source->rest.size : source->step;
    if (size == 0) {
        lw_reader_end(reader, false);
        return;
    }
    lw_require(lw_reader_feed(reader, lw_slice(source->rest.data, size)) == size);
    lw_slice_skip(&source->rest, size);
}

static int read_head(struct luaweb_reader *reader, struct source *source,
                     struct story *story, struct luaweb_response_head *head)
{
    for (;;) {
        int result = lw_reader_head(reader, head);
        if (result == LUAWEB_READER_GIVEN || result == LUAWEB_READER_INTERIM)
            note_head(story, head);
        if (result == LUAWEB_READER_WAIT)
            feed(reader, source);
        else if (result != LUAWEB_READER_INTERIM)
            return result;
    }
}

static int read_body(struct luaweb_reader *reader, struct source *source,
                     struct story *story, const struct luaweb_response_head *head)
{
    double size = 0;
    for (;;) {
        struct luaweb_slice piece;
        int result = lw_reader_body(reader, &piece);
        lw_require((piece.size > 0) == (result == LUAWEB_READER_GIVEN));
        note(story, piece);
        size += (double)piece.size;
        if (result == LUAWEB_READER_WAIT)
            feed(reader, source);
        else if (result != LUAWEB_READER_GIVEN) {
            bool is_counted = head->has_content && head->length >= 0;
            lw_require(!is_counted || result < 0 || size == head->length);
            lw_require(head->has_content || size == 0);
            note_number(story, size);
            return result;
        }
    }
}

/* Reads all that there is, `step` octets at a time. */
static void tell(struct story *story, struct luaweb_slice octets, uint8_t methods,
                 size_t step)
{
    static const struct luaweb_slice names[] = {
        {"GET",     3},
        {"HEAD",    4},
        {"CONNECT", 7}
    };
    struct luaweb_reader *reader = lw_reader_new(&limits);
    struct source source = {octets, step};
    struct luaweb_response_head head;
    int result = LUAWEB_READER_END;
    story->size = 0;
    for (int i = 0; i < ROUNDS && result == LUAWEB_READER_END; i++) {
        lw_reader_begin(reader, names[methods % 3], methods & 64);
        methods /= 3;
        result = read_head(reader, &source, story, &head);
        if (result == LUAWEB_READER_GIVEN && !head.is_switched)
            result = read_body(reader, &source, story, &head);
        note_number(story, result);
        if (result == LUAWEB_READER_END)
            note_fields(story, lw_reader_trailers(reader));
    }
    const char *why = lw_reader_error(reader);
    lw_require((result < 0) == (*why != 0));
    note(story, lw_slice(why, strlen(why)));
    if (result == LUAWEB_READER_GIVEN) /* switched: the rest is all that is left */
        note(story, lw_reader_rest(reader));
    if (result == LUAWEB_READER_GIVEN)
        note(story, source.rest);
    lw_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct story once, slow;
    if (size == 0 || size > MOST)
        return 0;
    struct luaweb_slice octets = lw_slice((const char *)data + 1, size - 1);
    tell(&once, octets, data[0], LUAWEB_READER_FEED);
    for (size_t step = 1; step < 12; step += 3) {
        tell(&slow, octets, data[0], step);
        lw_require(slow.size == once.size);
        lw_require(memcmp(slow.text, once.text, once.size) == 0);
    }
    return 0;
}
