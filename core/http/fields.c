/* SPDX-License-Identifier: MIT
 *
 * Field lines.  We find the lines and refuse bare LF and folded lines; llhttp reads
 * them and refuses what is no name and no value.  It believes in a POST request in
 * front of them and pauses before it could act on what they say: its opinions on
 * framing, upgrades and persistence play no part.  RFC 9112 §2.2, §5. */
#include "http/fields.h"

#include <assert.h>
#include <llhttp.h>
#include <string.h>

#include "base/require.h"

static_assert(sizeof(llhttp_t) <= sizeof(struct lw_fields_template),
              "a template has room for a parser");

/* The octets of a token, one bit each (RFC 9110 §5.6.2). */
static const uint32_t token_octets[8] = {0, 0x03ff6cfa, 0xc7fffffe, 0x57ffffff};

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

/* What the callbacks of llhttp fill. */
struct reading {
    struct luaweb_field *fields;
    uint32_t count;
    uint32_t capacity;
    int status;
    const char *why;
};

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

static int on_name(llhttp_t *parser, const char *at, size_t size)
{
    struct reading *reading = parser->data;
    if (size == 0) {
        reading->status = refuse(400, "a field has no name", &reading->why);
        return -1;
    }
    if (reading->count == reading->capacity) {
        reading->status = refuse(431, "there are too many fields", &reading->why);
        return -1;
    }
    struct luaweb_field *field = &reading->fields[reading->count++];
    field->name = lw_slice(at, size);
    field->value = lw_slice(at + size, 0);
    return 0;
}

static int on_value(llhttp_t *parser, const char *at, size_t size)
{
    struct reading *reading = parser->data;
    lw_require(reading->count > 0);
    reading->fields[reading->count - 1].value = lw_slice_trim(lw_slice(at, size));
    return 0;
}

static int on_end(llhttp_t *parser)
{
    (void)parser;
    return HPE_PAUSED;
}

static const llhttp_settings_t callbacks = {
    .on_header_field = on_name,
    .on_header_value = on_value,
    .on_headers_complete = on_end,
};

static void begin(llhttp_t *parser)
{
    static const char request_line[] = "POST / HTTP/1.1\r\n";
    llhttp_init(parser, HTTP_REQUEST, &callbacks);
    lw_require(llhttp_execute(parser, request_line, sizeof(request_line) - 1)
               == HPE_OK);
}

void lw_fields_prepare(struct lw_fields_template *start)
{
    llhttp_t parser;
    begin(&parser);
    memcpy(start, &parser, sizeof(parser));
}

/* llhttp wants no tabs after the number of Content-Length, where RFC 9110 §5.6.3 allows
 * them as after any value. */
static void blank_tabs_at_line_ends(char *data, size_t size)
{
    size_t line = 0;
    const char *lf;
    while (line < size && (lf = memchr(data + line, '\n', size - line)) != NULL) {
        size_t end = (size_t)(lf - data);
        for (size_t i = end; i > line + 1 && is_white(data[i - 2]); i--)
            data[i - 2] = ' ';
        line = end + 1;
    }
}

int lw_fields_parse(const struct lw_fields_template *start, char *data, size_t size,
                    struct luaweb_field *fields, uint32_t *count, const char **why)
{
    struct reading reading = {.fields = fields, .capacity = *count};
    llhttp_t parser;
    if (start)
        memcpy(&parser, start, sizeof(parser));
    else
        begin(&parser);
    parser.data = &reading;
    if (memchr(data, '\t', size))
        blank_tabs_at_line_ends(data, size);
    llhttp_errno_t result = llhttp_execute(&parser, data, size);
    if (reading.status)
        return refuse(reading.status, reading.why, why);
    if (result != HPE_OK && result != HPE_PAUSED)
        return refuse(400, llhttp_get_error_reason(&parser), why);
    if (llhttp_get_error_pos(&parser) != data + size)
        return refuse(400, "the field lines do not end in their first blank line", why);
    *count = reading.count;
    return 0;
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
    while (i < size) {
        unsigned char octet = (unsigned char)data[i];
        if (!(token_octets[octet >> 5] >> (octet & 31) & 1))
            break;
        i++;
    }
    return i;
}
