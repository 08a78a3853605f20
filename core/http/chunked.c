/* SPDX-License-Identifier: MIT
 *
 * Takes the chunked coding off: a table of states for the octets of its lines, and two
 * states beside it that handle many octets at a time (content, trailer section).
 * RFC 9112 §7.1. */
#include "http/chunked.h"

#include "base/require.h"

/* No octet leads back to START, so in the table it stands for what is not allowed. */
enum state {
    START,       /* of the body */
    NEXT,        /* of a chunk: the one before has ended */
    SIZE,        /* in the digits */
    GAP,         /* white space in front of a semicolon */
    NAME_START,  /* behind a semicolon */
    NAME,        /* in the name of an extension */
    NAME_GAP,    /* white space behind it */
    VALUE_START, /* behind the equals sign */
    VALUE,       /* in a value that is a token */
    QUOTED,      /* in a value that is a quoted string */
    ESCAPED,     /* behind a backslash in it */
    QUOTED_END,  /* behind it */
    SIZE_LF,     /* the CR of a size line has come */
    DATA_CR,     /* all content of a chunk has come */
    DATA_LF,     /* and its CR */
    LINE_STATES, /* number of the states above */
    DATA = LINE_STATES,
    TRAILERS,
    COMPLETE
};

enum octet_class {
    HEX,
    TOKEN, /* and no hexadecimal digit */
    CR,
    LF,
    WHITE,
    SEMI,
    EQUALS,
    QUOTE,
    SLASH, /* the backslash */
    TEXT,  /* what else a quoted string may have */
    OTHER
};

/* clang-format off */
static const uint8_t next_state[LINE_STATES][OTHER + 1] = {
    [START]       = {[HEX] = SIZE},
    [NEXT]        = {[HEX] = SIZE},
    [SIZE]        = {[HEX] = SIZE, [WHITE] = GAP, [SEMI] = NAME_START, [CR] = SIZE_LF},
    [GAP]         = {[WHITE] = GAP, [SEMI] = NAME_START},
    [NAME_START]  = {[WHITE] = NAME_START, [HEX] = NAME, [TOKEN] = NAME},
    [NAME]        = {[HEX] = NAME, [TOKEN] = NAME, [WHITE] = NAME_GAP,
                     [EQUALS] = VALUE_START, [SEMI] = NAME_START, [CR] = SIZE_LF},
    [NAME_GAP]    = {[WHITE] = NAME_GAP, [EQUALS] = VALUE_START, [SEMI] = NAME_START},
    [VALUE_START] = {[WHITE] = VALUE_START, [HEX] = VALUE, [TOKEN] = VALUE,
                     [QUOTE] = QUOTED},
    [VALUE]       = {[HEX] = VALUE, [TOKEN] = VALUE, [WHITE] = GAP,
                     [SEMI] = NAME_START, [CR] = SIZE_LF},
    [QUOTED]      = {[HEX] = QUOTED, [TOKEN] = QUOTED, [WHITE] = QUOTED,
                     [SEMI] = QUOTED, [EQUALS] = QUOTED, [TEXT] = QUOTED,
                     [SLASH] = ESCAPED, [QUOTE] = QUOTED_END},
    [ESCAPED]     = {[HEX] = QUOTED, [TOKEN] = QUOTED, [WHITE] = QUOTED,
                     [SEMI] = QUOTED, [EQUALS] = QUOTED, [TEXT] = QUOTED,
                     [SLASH] = QUOTED, [QUOTE] = QUOTED},
    [QUOTED_END]  = {[WHITE] = GAP, [SEMI] = NAME_START, [CR] = SIZE_LF},
    [SIZE_LF]     = {[LF] = DATA}, /* TRAILERS behind the size 0 */
    [DATA_CR]     = {[CR] = DATA_LF},
    [DATA_LF]     = {[LF] = NEXT},
};
/* clang-format on */

/* The digits of the largest size that fits in 64 bits. */
enum {
    DIGITS_MAX = 16
};

static int refuse(int status, const char *sentence, const char **why)
{
    *why = sentence;
    return status;
}

static enum octet_class class_of(char c)
{
    switch (c) {
    case '\r': return CR;
    case '\n': return LF;
    case ' ':
    case '\t': return WHITE;
    case ';': return SEMI;
    case '=': return EQUALS;
    case '"': return QUOTE;
    case '\\': return SLASH;
    default: break;
    }
    if ((c >= '0' && c <= '9') || (lw_lower(c) >= 'a' && lw_lower(c) <= 'f'))
        return HEX;
    if (lw_token_size(&c, 1) == 1)
        return TOKEN;
    return (unsigned char)c > ' ' && c != 0x7f ? TEXT : OTHER;
}

static uint64_t digit_value(char c)
{
    return (uint64_t)(c <= '9' ? c - '0' : lw_lower(c) - 'a' + 10);
}

/* Adds a digit to the size; `from` tells whether it is the first one. */
static int add_digit(struct lw_chunked *chunked, enum state from, char c,
                     const char **why)
{
    if (from != SIZE)
        chunked->digits = 0;
    if (chunked->digits++ == DIGITS_MAX)
        return refuse(400, "the size of a chunk has too many digits", why);
    chunked->left = chunked->left * 16 + digit_value(c);
    return 0;
}

/* Takes one octet of a line. */
static int step(struct lw_chunked *chunked, char c, size_t extension_limit,
                const char **why)
{
    enum state from = (enum state)chunked->state;
    enum state to = (enum state)next_state[from][class_of(c)];
    if (to == START)
        return refuse(400, "the chunked coding is malformed", why);
    chunked->state = to == DATA && chunked->left == 0 ? TRAILERS : to;
    if (to == SIZE)
        return add_digit(chunked, from, c, why);
    if (to >= GAP && to <= QUOTED_END && ++chunked->extensions > extension_limit)
        return refuse(400, "the chunk extensions are too long", why);
    return 0;
}

static void take_data(struct lw_chunked *chunked, struct luaweb_slice rest,
                      struct luaweb_slice *piece)
{
    *piece = rest;
    if (piece->size > chunked->left)
        piece->size = (size_t)chunked->left;
    chunked->left -= piece->size;
    if (chunked->left == 0)
        chunked->state = DATA_CR;
}

static int take_trailers(struct lw_chunked *chunked, struct luaweb_slice rest,
                         size_t limit, struct luaweb_slice *piece, const char **why)
{
    struct lw_fields_limits limits = {limit, UINT32_MAX};
    int status = lw_fields_scan(&chunked->scan, rest.data, rest.size, &limits, why);
    if (status)
        return status;
    *piece = lw_slice(rest.data, chunked->scan.at);
    chunked->state = COMPLETE;
    return 2;
}

int lw_chunked_next(struct lw_chunked *chunked, struct luaweb_slice data,
                    const struct lw_chunked_limits *limits, size_t *used,
                    struct luaweb_slice *piece, const char **why)
{
    lw_require(chunked->state != COMPLETE);
    size_t at = 0;
    int status = 0;
    while (status == 0 && at < data.size && chunked->state < LINE_STATES)
        status = step(chunked, data.data[at++], limits->extensions, why);
    struct luaweb_slice rest = lw_slice(data.data + at, data.size - at);
    *piece = lw_slice(rest.data, 0);
    if (status == 0 && rest.size == 0)
        status = 1;
    else if (status == 0 && chunked->state == DATA)
        take_data(chunked, rest, piece);
    else if (status == 0)
        status = take_trailers(chunked, rest, limits->trailers, piece, why);
    *used = at + piece->size;
    return status;
}
