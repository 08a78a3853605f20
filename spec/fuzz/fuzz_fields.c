/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the reading of field lines against llhttp: both take and refuse the same, and
 * read the same names and values.  llhttp believes in a POST request in front of them
 * and pauses before it could act on what they say; it wants no tabs behind the number of
 * Content-Length and knows no chunked with a tab before its comma, where RFC 9110 §5.6.3
 * allows them: it gets spaces there.  RFC 9112 §5, RFC 9110 §5. */
#include <llhttp.h>
#include <stdlib.h>

#include "base/require.h"
#include "http/fields.h"

enum {
    ROOM = 64
};

struct reading {
    struct luaweb_field fields[ROOM];
    uint32_t count;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_name(llhttp_t *parser, const char *at, size_t size)
{
    struct reading *reading = parser->data;
    if (size == 0)
        return -1;
    lw_require(reading->count < ROOM);
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

static bool is_white(char c)
{
    return c == ' ' || c == '\t';
}

static void blank_tabs(char *data, size_t size)
{
    for (size_t end = 0; end + 1 < size; end++) {
        bool is_end = data[end] == ',' || (data[end] == '\r' && data[end + 1] == '\n');
        for (size_t i = end; is_end && i > 0 && is_white(data[i - 1]); i--)
            data[i - 1] = ' ';
    }
}

/* Whether llhttp takes the whole section. */
static bool read_by_llhttp(char *data, size_t size, struct reading *reading)
{
    static const char request_line[] = "POST / HTTP/1.1\r\n";
    static const llhttp_settings_t callbacks = {
        .on_header_field = on_name,
        .on_header_value = on_value,
        .on_headers_complete = on_end,
    };
    llhttp_t parser;
    llhttp_init(&parser, HTTP_REQUEST, &callbacks);
    lw_require(llhttp_execute(&parser, request_line, sizeof(request_line) - 1)
               == HPE_OK);
    parser.data = reading;
    blank_tabs(data, size);
    llhttp_errno_t result = llhttp_execute(&parser, data, size);
    return (result == HPE_OK || result == HPE_PAUSED)
           && llhttp_get_error_pos(&parser) == data + size;
}

static bool is_same(struct luaweb_slice a, const char *a_base, struct luaweb_slice b,
                    const char *b_base)
{
    return a.data - a_base == b.data - b_base && a.size == b.size;
}

/* A value that is empty lies somewhere behind its name. */
static void compare(const struct luaweb_field *ours, const char *data,
                    const struct luaweb_field *theirs, const char *copy)
{
    lw_require(is_same(ours->name, data, theirs->name, copy));
    lw_require(ours->value.size == theirs->value.size);
    if (ours->value.size > 0)
        lw_require(is_same(ours->value, data, theirs->value, copy));
}

static char *copy_of(const void *data, size_t size)
{
    char *copy = malloc(size + 1);
    lw_require(copy);
    memcpy(copy, data, size);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct lw_fields_limits limits = {4096, ROOM};
    struct lw_scan scan = {0};
    struct luaweb_field fields[ROOM];
    struct reading reading = {.count = 0};
    uint32_t count = ROOM;
    const char *why = NULL;
    if (size == 0 || lw_fields_scan(&scan, (const char *)data, size, &limits, &why))
        return 0;
    char *ours = copy_of(data, scan.at);
    char *theirs = copy_of(data, scan.at);
    int status = lw_fields_parse(ours, scan.at, fields, &count, &why);
    lw_require(status == 0 || (status == 400 && why));
    lw_require((status == 0) == read_by_llhttp(theirs, scan.at, &reading));
    lw_require(memcmp(ours, data, scan.at) == 0);
    if (status == 0) {
        lw_require(count == reading.count);
        for (uint32_t i = 0; i < count; i++)
            compare(&fields[i], ours, &reading.fields[i], theirs);
    }
    free(ours);
    free(theirs);
    return 0;
}
