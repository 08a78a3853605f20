/* SPDX-License-Identifier: MIT
 *
 * Field lines.  Finding their end refuses bare LF and folded lines; reading them
 * refuses what is no name, no value, and what speaks of the length of the message in
 * two ways.  spec/fuzz/fuzz_fields.c compares with llhttp, which takes and refuses the
 * same.  RFC 9112 §2.2, §5, §6.3. */
#include "http/fields.h"

#include <string.h>

#include "base/require.h"
#include "http/octets.h"

struct known_name {
    const char *name;
    uint32_t bit;
};

/* Ordered by size. */
static const struct known_name known_names[] = {
    {"te",                             LW_HAS_TE                 },
    {"host",                           LW_HAS_HOST               },
    {"range",                          LW_HAS_RANGE              },
    {"accept",                         LW_HAS_ACCEPT             },
    {"cookie",                         LW_HAS_COOKIE             },
    {"expect",                         LW_HAS_EXPECT             },
    {"origin",                         LW_HAS_ORIGIN             },
    {"upgrade",                        LW_HAS_UPGRADE            },
    {"if-match",                       LW_HAS_IF_MATCH           },
    {"if-range",                       LW_HAS_IF_RANGE           },
    {"connection",                     LW_HAS_CONNECTION         },
    {"content-type",                   LW_HAS_CONTENT_TYPE       },
    {"authorization",                  LW_HAS_AUTHORIZATION      },
    {"content-range",                  LW_HAS_CONTENT_RANGE      },
    {"if-none-match",                  LW_HAS_IF_NONE_MATCH      },
    {"accept-charset",                 LW_HAS_ACCEPT_CHARSET     },
    {"content-length",                 LW_HAS_CONTENT_LENGTH     },
    {"accept-encoding",                LW_HAS_ACCEPT_ENCODING    },
    {"accept-language",                LW_HAS_ACCEPT_LANGUAGE    },
    {"content-encoding",               LW_HAS_CONTENT_ENCODING   },
    {"content-language",               LW_HAS_CONTENT_LANGUAGE   },
    {"if-modified-since",              LW_HAS_IF_MODIFIED_SINCE  },
    {"transfer-encoding",              LW_HAS_TRANSFER_ENCODING  },
    {"if-unmodified-since",            LW_HAS_IF_UNMODIFIED_SINCE},
    {"access-control-request-method",  LW_HAS_REQUEST_METHOD     },
    {"access-control-request-headers", LW_HAS_REQUEST_HEADERS    },
};

/* The first row of known_names whose size is at least the index. */
static const uint8_t first_row[] = {0,  0,  0,  1,  1,  2,  3,  7,  8,  10, 10,
                                    11, 11, 12, 15, 17, 19, 21, 23, 23, 24, 24,
                                    24, 24, 24, 24, 24, 24, 24, 24, 25, 26};

static int refuse(int status, const char *sentence, const char **why)
{
    *why = sentence;
    return status;
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t';
}

/* The order of the checks is that of the octets which fail them, so that the answer
 * does not depend on how these arrive. */
int lw_fields_scan(struct lw_scan *scan, const char *data, size_t size,
                   const struct lw_fields_limits *limits, const char **why)
{
    lw_require(size >= scan->at);
    for (;;) {
        const char *lf = memchr(data + scan->at, '\n', size - scan->at);
        size_t end = lf ? (size_t)(lf - data) + 1 : size;
        size_t line_size = end - scan->line;
        size_t size_before = scan->line - scan->fields;
        if (line_size > 0 && size_before < limits->size && is_white(data[scan->line]))
            return refuse(400, "a field line begins with white space", why);
        if (size_before + line_size > limits->size)
            return refuse(431, "the field lines are too long", why);
        scan->at = end;
        if (!lf)
            return 1;
        if (line_size < 2 || data[end - 2] != '\r')
            return refuse(400, "a line ends in LF without CR", why);
        scan->line = end;
        scan->lines++;
        if (line_size == 2)
            return 0;
        if (scan->lines - (scan->fields > 0) > limits->count)
            return refuse(431, "there are too many field lines", why);
    }
}

/* The number of octets of a value that `data` begins with: no control octets but tabs
 * (RFC 9110 §5.5).  Eight at a time while there is none below 32 and no DEL. */
static size_t value_size(const char *data, size_t size)
{
    const uint64_t ones = UINT64_MAX / 255;
    size_t at = 0;
    for (;;) {
        uint64_t word, delta;
        for (; size - at >= sizeof word; at += sizeof word) {
            memcpy(&word, data + at, sizeof word);
            delta = word ^ ones * 0x7f;
            if (((word - ones * 0x20) & ~word & ones * 0x80)
                || ((delta - ones) & ~delta & ones * 0x80))
                break;
        }
        while (at < size && data[at] != 0x7f && (unsigned char)data[at] >= 0x20)
            at++;
        if (at == size || data[at] != '\t')
            return at;
        at++;
    }
}

/* Reads the line that `data` begins with, the size of which goes to *line_size.
 * 400: it is none. */
static int read_line(const char *data, size_t size, struct luaweb_field *field,
                     size_t *line_size, const char **why)
{
    size_t name_size = lw_token_size(data, size);
    if (name_size == size || data[name_size] != ':')
        return refuse(400, "a field name is no token with a colon behind it", why);
    if (name_size == 0)
        return refuse(400, "a field has no name", why);
    const char *value = data + name_size + 1;
    size_t left = size - name_size - 1;
    size_t value_octets = value_size(value, left);
    if (left - value_octets < 2 || value[value_octets] != '\r'
        || value[value_octets + 1] != '\n')
        return refuse(400, "a field value has a control octet", why);
    field->name = lw_slice(data, name_size);
    field->value = lw_slice_trim(lw_slice(value, value_octets));
    *line_size = name_size + 1 + value_octets + 2;
    return 0;
}

/* Whether a value is a number that 64 bits hold. */
static int judge_length(struct luaweb_slice value, const char **why)
{
    uint64_t length = 0;
    if (value.size == 0)
        return refuse(400, "Content-Length is empty", why);
    for (size_t i = 0; i < value.size; i++) {
        uint64_t digit = (uint64_t)value.data[i] - '0';
        if (digit > 9)
            return refuse(400, "Content-Length is not a number", why);
        if (length > (UINT64_MAX - digit) / 10)
            return refuse(400, "Content-Length is too large a number", why);
        length = length * 10 + digit;
    }
    return 0;
}

/* What the fields so far have said of the message's length. */
struct framing {
    bool has_length;
    bool has_coding;
    bool is_chunked; /* the last coding is chunked */
};

/* Nothing may follow chunked, not even a comma. */
static int judge_codings(struct luaweb_slice rest, struct framing *framing,
                         const char **why)
{
    while (rest.size > 0) {
        const char *comma = memchr(rest.data, ',', rest.size);
        size_t size = comma ? (size_t)(comma - rest.data) : rest.size;
        if (framing->is_chunked)
            return refuse(400, "Transfer-Encoding goes on after chunked", why);
        framing->is_chunked = lw_slice_equal_nocase(
            lw_slice_trim(lw_slice(rest.data, size)), LW_SLICE("chunked"));
        if (framing->is_chunked && comma)
            return refuse(400, "Transfer-Encoding goes on after chunked", why);
        size += comma != NULL;
        rest = lw_slice(rest.data + size, rest.size - size);
    }
    return 0;
}

/* What says how long a message is must be clear wherever it stands, also in trailers,
 * where it means nothing: somebody else may read it.  A Transfer-Encoding without a
 * coding says nothing.  RFC 9112 §6.3. */
static int judge_framing(const struct luaweb_field *field, struct framing *framing,
                         const char **why)
{
    size_t size = field->name.size;
    if (size != sizeof "content-length" - 1 && size != sizeof "transfer-encoding" - 1)
        return 0;
    uint32_t bit = lw_field_bit(field->name);
    bool is_length = bit == LW_HAS_CONTENT_LENGTH;
    bool is_coding = bit == LW_HAS_TRANSFER_ENCODING && field->value.size > 0;
    if (is_length && framing->has_length)
        return refuse(400, "there is more than one Content-Length", why);
    framing->has_length |= is_length;
    framing->has_coding |= is_coding;
    if (framing->has_length && framing->has_coding)
        return refuse(400, "Transfer-Encoding stands with Content-Length", why);
    if (is_length)
        return judge_length(field->value, why);
    return is_coding ? judge_codings(field->value, framing, why) : 0;
}

/* Reads all lines; `framing` is NULL where what they say of lengths is not judged. */
static int read_lines(struct luaweb_slice lines, struct luaweb_field *fields,
                      uint32_t *count, struct framing *framing, const char **why)
{
    uint32_t found = 0;
    const char *data = lines.data;
    size_t size = lines.size;
    size_t at = 0;
    while (size - at >= 2 && (data[at] != '\r' || data[at + 1] != '\n')) {
        size_t line_size;
        if (found == *count)
            return refuse(431, "there are too many fields", why);
        struct luaweb_field *field = &fields[found++];
        int status = read_line(data + at, size - at, field, &line_size, why);
        if (status == 0 && framing)
            status = judge_framing(field, framing, why);
        if (status)
            return status;
        at += line_size;
    }
    if (size - at != 2)
        return refuse(400, "the field lines do not end in their first blank line", why);
    *count = found;
    return 0;
}

int lw_fields_parse(const char *data, size_t size, struct luaweb_field *fields,
                    uint32_t *count, const char **why)
{
    struct framing framing = {false, false, false};
    return read_lines(lw_slice(data, size), fields, count, &framing, why);
}

int lw_fields_read(const char *data, size_t size, struct luaweb_field *fields,
                   uint32_t *count, const char **why)
{
    return read_lines(lw_slice(data, size), fields, count, NULL, why);
}

/* Whether `name` is `known` in any case.  Names are tokens: the bit that tells the
 * cases apart makes no other token octet a letter or a hyphen. */
static bool is_known(const char *name, const char *known, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((name[i] | 0x20) != known[i])
            return false;
    return true;
}

uint32_t lw_field_bit(struct luaweb_slice name)
{
    if (name.size + 1 >= sizeof(first_row))
        return 0;
    for (size_t i = first_row[name.size]; i < first_row[name.size + 1]; i++)
        if (is_known(name.data, known_names[i].name, name.size))
            return known_names[i].bit;
    return 0;
}

/* Octets of the name of each bit: most fields differ in that already. */
static const uint8_t sizes[] = {6, 14, 15, 15, 13, 10, 16, 16, 14, 13, 12, 6,  6,
                                4, 8,  17, 13, 8,  19, 6,  5,  30, 29, 2,  17, 7};

bool lw_field_is(const struct luaweb_field *field, uint32_t bit)
{
    return field->name.size == sizes[__builtin_ctz(bit)]
           && lw_field_bit(field->name) == bit;
}

const struct luaweb_field *lw_fields_only(struct luaweb_fields fields, uint32_t bit)
{
    const struct luaweb_field *found = NULL;
    for (uint32_t i = 0; i < fields.count; i++) {
        if (!lw_field_is(&fields.list[i], bit))
            continue;
        if (found)
            return NULL;
        found = &fields.list[i];
    }
    return found;
}

const struct luaweb_field *lw_fields_find(const struct luaweb_field *fields,
                                          uint32_t count, struct luaweb_slice name)
{
    for (uint32_t i = 0; i < count; i++)
        if (lw_slice_equal_nocase(fields[i].name, name))
            return &fields[i];
    return NULL;
}

bool lw_list_next(struct luaweb_slice *list, struct luaweb_slice *member)
{
    while (list->size > 0) {
        const char *comma = memchr(list->data, ',', list->size);
        size_t size = comma ? (size_t)(comma - list->data) : list->size;
        size_t used = comma ? size + 1 : size;
        *member = lw_slice_trim(lw_slice(list->data, size));
        *list = lw_slice(list->data + used, list->size - used);
        if (member->size > 0)
            return true;
    }
    return false;
}

size_t lw_list_size(struct luaweb_slice text)
{
    bool is_quoted = false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (c == ',' && !is_quoted)
            return i;
        if (c == '"')
            is_quoted = !is_quoted;
        if (c == '\\' && is_quoted)
            i++;
    }
    return text.size;
}

bool lw_list_has(struct luaweb_slice list, struct luaweb_slice token)
{
    struct luaweb_slice member;
    while (lw_list_next(&list, &member))
        if (lw_slice_equal_nocase(member, token))
            return true;
    return false;
}

size_t lw_token_size(const char *data, size_t size)
{
    size_t i = 0;
    while (i < size && (lw_octets[(unsigned char)data[i]] & LW_OCTET_TOKEN))
        i++;
    return i;
}
