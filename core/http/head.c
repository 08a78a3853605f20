/* SPDX-License-Identifier: MIT
 *
 * Reads heads.  Looking for the end comes first and is resumable: it reads the request
 * line as it grows, so that what is not HTTP is refused at once.  Then the whole head
 * is read in one go, and what a field says about the message is judged.
 * RFC 9112 §3, §6.3, §9.3; RFC 9110 §7.2, §8.6, §10.1.1. */
#include "http/head.h"

#include <string.h>

#include "base/require.h"
#include "http/memo.h"

/* The longest method that any registry knows has 17 octets. */
enum {
    METHOD_MAX = 64,
    VERSION_SIZE = 8
};

/* As much as is there of the request line, without its line end or a CR at the end that
 * may become one. */
struct request_line {
    const char *data;
    size_t size;
    bool is_whole;
};

/* What the fields have said so far, apart from what `head` has of it. */
struct judgement {
    struct lw_head *head;
    const char **why;
    bool has_other_coding; /* than chunked */
    bool says_close;
    bool says_keep_alive;
};

static int refuse(int status, const char *sentence, const char **why)
{
    *why = sentence;
    return status;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

size_t lw_head_skip(const char *data, size_t size)
{
    size_t skipped = 0;
    while (size - skipped >= 2 && data[skipped] == '\r' && data[skipped + 1] == '\n')
        skipped += 2;
    return skipped;
}

static int read_method(struct lw_scan *scan, struct request_line line, const char **why)
{
    size_t bound = line.size > METHOD_MAX ? METHOD_MAX + 1 : line.size;
    size_t size = lw_token_size(line.data, bound);
    if (size > METHOD_MAX)
        return refuse(501, "the method is longer than any", why);
    if (size == line.size && !line.is_whole)
        return 1;
    if (size == 0 || size == line.size || line.data[size] != ' ')
        return refuse(400, "the request line does not begin with a method", why);
    scan->method_size = (uint32_t)size;
    return 0;
}

static int read_target(struct lw_scan *scan, struct request_line line, size_t limit,
                       const char **why)
{
    size_t start = scan->method_size + 1;
    size_t from = scan->at > start ? scan->at : start;
    const char *space = NULL;
    if (from < line.size)
        space = memchr(line.data + from, ' ', line.size - from);
    size_t end = space ? (size_t)(space - line.data) : line.size;
    if (end - start > limit)
        return refuse(414, "the target is too long", why);
    if (!space && !line.is_whole)
        return 1;
    if (!space || end == start)
        return refuse(400, "the request line has no target and version", why);
    scan->target_size = end - start;
    return 0;
}

/* A minor version above 1 is read as the highest that we know (RFC 9110 §2.5). */
static int read_version(struct lw_scan *scan, struct request_line line,
                        const char **why)
{
    size_t start = scan->method_size + scan->target_size + 2;
    const char *text = line.data + start;
    size_t size = line.size - start;
    if (!line.is_whole && size <= VERSION_SIZE)
        return 1;
    if (size != VERSION_SIZE || memcmp(text, "HTTP/", 5) != 0 || !is_digit(text[5])
        || text[6] != '.' || !is_digit(text[7]))
        return refuse(400, "the request line does not end in a version", why);
    if (text[5] != '1')
        return refuse(505, "the major version of HTTP is not 1", why);
    scan->minor_version = text[7] != '0';
    return 0;
}

static int scan_request_line(struct lw_scan *scan, const char *data, size_t size,
                             size_t target_limit, const char **why)
{
    const char *lf = memchr(data + scan->at, '\n', size - scan->at);
    size_t end = lf ? (size_t)(lf - data) : size;
    bool has_cr = end > 0 && data[end - 1] == '\r';
    struct request_line line = {data, end - has_cr, lf != NULL};
    int status = 0;
    if (scan->method_size == 0)
        status = read_method(scan, line, why);
    if (status == 0 && scan->target_size == 0)
        status = read_target(scan, line, target_limit, why);
    if (status == 0)
        status = read_version(scan, line, why);
    if (status == 0 && !has_cr)
        status = refuse(400, "the request line ends in LF without CR", why);
    scan->at = lf ? end + 1 : size;
    scan->line = scan->fields = scan->at;
    scan->lines = lf != NULL;
    return status;
}

/* Whether the field lines are known, and the head whole with them. */
static bool pass_known(struct lw_scan *scan, struct luaweb_slice octets,
                       const struct lw_head_memo *memo)
{
    struct luaweb_slice rest = lw_slice(octets.data + scan->at, octets.size - scan->at);
    if (!lw_memo_begins(memo, rest))
        return false;
    scan->at += memo->size;
    scan->line = scan->at;
    scan->lines = memo->field_count + 2;
    scan->is_known = true;
    return true;
}

int lw_head_scan(struct lw_scan *scan, struct luaweb_slice octets,
                 const struct lw_head_limits *limits, const struct lw_head_memo *memo,
                 size_t *head_size, const char **why)
{
    const char *data = octets.data;
    size_t size = octets.size;
    int status = 0;
    lw_require(size >= scan->at);
    if (size == 0 || (size == 1 && data[0] == '\r'))
        return 1;
    if (scan->lines == 0) {
        status = scan_request_line(scan, data, size, limits->target, why);
        if (status)
            return status;
        if (memo && pass_known(scan, octets, memo)) {
            *head_size = scan->at;
            return 0;
        }
    }
    struct lw_fields_limits field_limits = {limits->header_size, limits->fields};
    status = lw_fields_scan(scan, data, size, &field_limits, why);
    if (status == 0)
        *head_size = scan->at;
    return status;
}

static int judge_host(struct judgement *judgement, struct luaweb_slice value)
{
    if (value.size > 0 && !lw_authority_valid(value))
        return refuse(400, "Host is not host[:port]", judgement->why);
    judgement->head->host = value;
    return 0;
}

static int judge_content_length(struct judgement *judgement, struct luaweb_slice value)
{
    uint64_t length = 0;
    for (size_t i = 0; i < value.size; i++) {
        if (!is_digit(value.data[i]))
            return refuse(400, "Content-Length is not a number", judgement->why);
        uint64_t digit = (uint64_t)(value.data[i] - '0');
        if (length > (INT64_MAX - digit) / 10)
            return refuse(400, "Content-Length is too large a number", judgement->why);
        length = length * 10 + digit;
    }
    if (value.size == 0)
        return refuse(400, "Content-Length is empty", judgement->why);
    judgement->head->content_length = length;
    judgement->head->framing = LW_FRAMING_LENGTH;
    return 0;
}

/* Chunked alone is what we read.  Chunked behind other codings has an end that we could
 * find, but content that we could not read; any other list has no end. */
static int judge_transfer_encoding(struct judgement *judgement,
                                   struct luaweb_slice value)
{
    struct luaweb_slice rest = value, member;
    bool ends_in_chunked = false;
    if (judgement->head->framing == LW_FRAMING_CHUNKED)
        return refuse(400, "Transfer-Encoding goes on after chunked", judgement->why);
    if (!lw_slice_equal_nocase(value, LW_SLICE("chunked")))
        judgement->has_other_coding = true;
    while (lw_list_next(&rest, &member))
        ends_in_chunked = lw_slice_equal_nocase(member, LW_SLICE("chunked"));
    if (ends_in_chunked && value.data[value.size - 1] != ',')
        judgement->head->framing = LW_FRAMING_CHUNKED;
    return 0;
}

static void judge_connection(struct judgement *judgement, struct luaweb_slice value)
{
    struct luaweb_slice option;
    while (lw_list_next(&value, &option)) {
        if (lw_slice_equal_nocase(option, LW_SLICE("close")))
            judgement->says_close = true;
        if (lw_slice_equal_nocase(option, LW_SLICE("keep-alive")))
            judgement->says_keep_alive = true;
    }
}

static void judge_expect(struct judgement *judgement, struct luaweb_slice value)
{
    struct luaweb_slice expectation;
    while (lw_list_next(&value, &expectation))
        if (lw_slice_equal_nocase(expectation, LW_SLICE("100-continue")))
            judgement->head->expects_continue = true;
}

static int judge_field(struct judgement *judgement, const struct luaweb_field *field)
{
    uint32_t bit = lw_field_bit(field->name);
    bool is_repeated = judgement->head->present & bit;
    judgement->head->present |= bit;
    if (is_repeated && bit == LW_HAS_HOST)
        return refuse(400, "there is more than one Host", judgement->why);
    if (is_repeated && bit == LW_HAS_CONTENT_LENGTH)
        return refuse(400, "there is more than one Content-Length", judgement->why);
    switch (bit) {
    case LW_HAS_HOST: return judge_host(judgement, field->value);
    case LW_HAS_CONTENT_LENGTH: return judge_content_length(judgement, field->value);
    case LW_HAS_TRANSFER_ENCODING:
        return judge_transfer_encoding(judgement, field->value);
    case LW_HAS_CONNECTION: judge_connection(judgement, field->value); return 0;
    case LW_HAS_EXPECT: judge_expect(judgement, field->value); return 0;
    default: return 0;
    }
}

/* RFC 9112 §6.1, §6.3: Transfer-Encoding wins or the message is refused. */
static int conclude_framing(struct judgement *judgement)
{
    struct lw_head *head = judgement->head;
    if (!(head->present & LW_HAS_TRANSFER_ENCODING))
        return 0;
    if (head->minor_version == 0)
        return refuse(400, "Transfer-Encoding stands in HTTP/1.0", judgement->why);
    if (head->present & LW_HAS_CONTENT_LENGTH)
        return refuse(400, "Transfer-Encoding stands with Content-Length",
                      judgement->why);
    if (head->framing != LW_FRAMING_CHUNKED)
        return refuse(400, "Transfer-Encoding does not end in chunked", judgement->why);
    if (judgement->has_other_coding)
        return refuse(501, "Transfer-Encoding is not chunked alone", judgement->why);
    return 0;
}

static int conclude(struct judgement *judgement)
{
    struct lw_head *head = judgement->head;
    if (head->minor_version == 1 && !(head->present & LW_HAS_HOST))
        return refuse(400, "there is no Host", judgement->why);
    int status = conclude_framing(judgement);
    if (status)
        return status;
    if (head->parts.authority.size > 0)
        head->host = head->parts.authority;
    head->keep_alive = !judgement->says_close
                       && (head->minor_version == 1 || judgement->says_keep_alive);
    if (head->minor_version == 0)
        head->expects_continue = false;
    return 0;
}

static int read_fields(struct lw_head *head, struct luaweb_slice lines,
                       const char **why)
{
    int status =
        lw_fields_parse(lines.data, lines.size, head->fields, &head->field_count, why);
    if (status)
        return status;
    struct judgement judgement = {.head = head, .why = why};
    for (uint32_t i = 0; i < head->field_count; i++) {
        status = judge_field(&judgement, &head->fields[i]);
        if (status)
            return status;
    }
    return conclude(&judgement);
}

int lw_head_parse(const struct lw_scan *scan, const char *data, size_t size,
                  struct lw_head *head, const char **why)
{
    lw_require(size == scan->at && scan->lines > 1);
    *head = (struct lw_head){
        .memo = head->memo,
        .fields = head->fields,
        .field_capacity = head->field_capacity,
        .field_count = head->field_capacity,
        .method = lw_slice(data, scan->method_size),
        .target = lw_slice(data + scan->method_size + 1, scan->target_size),
        .minor_version = scan->minor_version,
    };
    int status = lw_target_parse(head->method, head->target, &head->parts, why);
    if (status)
        return status;
    struct luaweb_slice lines = lw_slice(data + scan->fields, size - scan->fields);
    head->is_repeated = scan->is_known && lw_memo_recall(head->memo, head, lines.data);
    if (head->is_repeated)
        return 0;
    status = read_fields(head, lines, why);
    if (status == 0 && head->memo)
        lw_memo_keep(head->memo, head, lines);
    return status;
}
