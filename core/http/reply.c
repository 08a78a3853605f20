/* SPDX-License-Identifier: MIT
 *
 * Formatting of response heads, and the table of fields that are ours. */
#include "http/reply.h"

#include <string.h>

#include "base/slice.h"
#include "base/status.h"
#include "http/fields.h"

bool lw_reply_has_content(struct luaweb_slice method, int status)
{
    return status != 204 && status != 304 && !lw_slice_equal(method, LW_SLICE("HEAD"));
}

static char *put(char *at, const char *data, size_t size)
{
    if (size)
        memcpy(at, data, size);
    return at + size;
}

#define PUT(at, literal) put((at), (literal), sizeof(literal) - 1)

static char *put_number(char *at, uint64_t number)
{
    size_t size = 1;
    for (uint64_t rest = number; rest > 9; rest /= 10)
        size++;
    for (char *digit = at + size; digit > at; number /= 10)
        *--digit = (char)('0' + number % 10);
    return at + size;
}

#define STATUS_LINE_SIZE 48 /* of the longest, and some */

/* Written as a block of fixed size, which takes no call. */
static const struct status_line {
    int code;
    uint32_t size;
    char text[STATUS_LINE_SIZE];
} status_lines[] = {
#define LW_ROW(code, reason) \
    {code, sizeof "HTTP/1.1 " #code " " reason - 1, "HTTP/1.1 " #code " " reason},
    LW_STATUSES(LW_ROW)
#undef LW_ROW
};

static char *put_status_line(char *at, int status)
{
    for (size_t i = 0; i < sizeof status_lines / sizeof *status_lines; i++) {
        const struct status_line *line = &status_lines[i];
        if (line->code != status)
            continue;
        memcpy(at, line->text, STATUS_LINE_SIZE);
        return at + line->size;
    }
    at = PUT(at, "HTTP/1.1 ");
    at = put_number(at, (uint64_t)status);
    return PUT(at, " ");
}

static char *put_framing(char *at, const struct lw_reply *reply)
{
    if (reply->framing == LW_REPLY_LENGTH) {
        at = PUT(at, "Content-Length: ");
        at = put_number(at, reply->length);
        at = PUT(at, "\r\n");
    } else if (reply->framing == LW_REPLY_CHUNKED) {
        at = PUT(at, "Transfer-Encoding: chunked\r\n");
    }
    if (reply->close)
        return PUT(at, "Connection: close\r\n");
    return reply->keep_alive ? PUT(at, "Connection: keep-alive\r\n") : at;
}

void lw_reply_head(struct lw_buffer *out, struct lw_blocks *blocks,
                   const struct lw_reply *reply)
{
    const size_t fixed = 256;
    lw_buffer_reserve(out, blocks, fixed + reply->type.size + reply->fields.size);
    char *at = out->data + out->end;
    at = put_status_line(at, reply->status);
    if (!reply->has_date) {
        at = PUT(at, "\r\nDate: ");
        at = put(at, reply->date, 29);
    }
    if (reply->type.data) {
        at = PUT(at, "\r\nContent-Type: ");
        at = put(at, reply->type.data, reply->type.size);
    }
    at = PUT(at, "\r\n");
    at = put_framing(at, reply);
    at = put(at, reply->fields.data, reply->fields.size);
    at = PUT(at, "\r\n");
    out->end = (size_t)(at - out->data);
}

/* clang-format off */
static const struct { const char *name; enum lw_reply_field kind; } own_fields[] = {
    {"content-type",      LW_REPLY_FIELD_TYPE},
    {"date",              LW_REPLY_FIELD_DATE},
    {"content-length",    LW_REPLY_FIELD_LENGTH},
    {"connection",        LW_REPLY_FIELD_DROPPED},
    {"transfer-encoding", LW_REPLY_FIELD_DROPPED},
    {"keep-alive",        LW_REPLY_FIELD_DROPPED},
    {"proxy-connection",  LW_REPLY_FIELD_DROPPED},
    {"upgrade",           LW_REPLY_FIELD_DROPPED},
    {"trailer",           LW_REPLY_FIELD_DROPPED},
    {"te",                LW_REPLY_FIELD_DROPPED},
};
/* clang-format on */

static bool is_field_value(struct luaweb_slice s)
{
    for (size_t i = 0; i < s.size; i++) {
        unsigned char c = (unsigned char)s.data[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

static bool names_close(struct luaweb_slice value)
{
    return lw_slice_equal_nocase(lw_slice_trim(value), LW_SLICE("close"));
}

enum lw_reply_field lw_reply_judge(struct luaweb_slice name, struct luaweb_slice value)
{
    if (name.size == 0 || lw_token_size(name.data, name.size) < name.size)
        return LW_REPLY_FIELD_BAD_NAME;
    if (!is_field_value(value))
        return LW_REPLY_FIELD_BAD_VALUE;
    for (size_t i = 0; i < sizeof own_fields / sizeof *own_fields; i++) {
        struct luaweb_slice own =
            lw_slice(own_fields[i].name, strlen(own_fields[i].name));
        if (!lw_slice_equal_nocase(name, own))
            continue;
        if (lw_slice_equal(own, LW_SLICE("connection")) && names_close(value))
            return LW_REPLY_FIELD_CLOSE;
        return own_fields[i].kind;
    }
    return LW_REPLY_FIELD_PLAIN;
}

void lw_reply_line(struct lw_buffer *out, struct lw_blocks *blocks,
                   struct luaweb_slice name, struct luaweb_slice value)
{
    value = lw_slice_trim(value);
    lw_buffer_reserve(out, blocks, name.size + value.size + 4);
    char *at = out->data + out->end;
    at = put(at, name.data, name.size);
    at = PUT(at, ": ");
    at = put(at, value.data, value.size);
    at = PUT(at, "\r\n");
    out->end = (size_t)(at - out->data);
}
