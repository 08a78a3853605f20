/* SPDX-License-Identifier: MIT
 *
 * Reads heads of responses.  The status line is checked octet by octet at its place, so
 * that what is no HTTP/1 is known at its first wrong octet, however the octets come.
 * RFC 9112 §4, §6.3, §9.3; RFC 9110 §15. */
#include "http/response.h"

#include <string.h>

#include "base/require.h"

/* Places in a status line: "HTTP/1.1 200 OK". */
enum {
    MINOR = 7,
    FIRST_SPACE = 8,
    STATUS = 9,
    SECOND_SPACE = 12, /* or the CR: a reason may be missing with its space */
    REASON = 13
};

/* What the fields so far have said. */
struct judgement {
    struct lw_response_head *response;
    const char **why;
    bool has_coding;
    bool is_chunked; /* the one line says chunked and nothing else */
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

/* Text of a reason phrase: no control octets but tabs. */
static bool is_text(char c)
{
    return c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

enum lw_response_to lw_response_to(struct luaweb_slice method)
{
    if (lw_slice_equal(method, LW_SLICE("HEAD")))
        return LW_RESPONSE_TO_HEAD;
    if (lw_slice_equal(method, LW_SLICE("CONNECT")))
        return LW_RESPONSE_TO_CONNECT;
    return LW_RESPONSE_TO_OTHER;
}

/* Whether an octet may stand at its place in front of the reason. */
static int check_start(size_t at, char c, const char **why)
{
    static const char protocol[] = "HTTP/1.";
    if (at < MINOR && c != protocol[at])
        return refuse(400, "it does not begin with HTTP/1", why);
    if (at == MINOR && c != '0' && c != '1')
        return refuse(400, "the version is neither HTTP/1.0 nor HTTP/1.1", why);
    if (at == FIRST_SPACE && c != ' ')
        return refuse(400, "the version is not followed by a space", why);
    if (at == STATUS && (c < '1' || c > '5'))
        return refuse(400, "the status is no number from 100 to 599", why);
    if (at > STATUS && at < SECOND_SPACE && !is_digit(c))
        return refuse(400, "the status is no number from 100 to 599", why);
    if (at == SECOND_SPACE && c != ' ' && c != '\r')
        return refuse(400, "the status is no number from 100 to 599", why);
    return 0;
}

static int check_octet(const char *data, size_t at, const char **why)
{
    char c = data[at];
    if (at <= SECOND_SPACE)
        return check_start(at, c, why);
    if (data[at - 1] == '\r' && c != '\n')
        return refuse(400, "the status line has a CR without LF", why);
    if (data[at - 1] != '\r' && c == '\n')
        return refuse(400, "the status line ends in LF without CR", why);
    if (c != '\r' && c != '\n' && !is_text(c))
        return refuse(400, "the reason phrase has a control octet", why);
    return 0;
}

static int scan_status_line(struct lw_scan *scan, struct luaweb_slice octets,
                            size_t limit, const char **why)
{
    while (scan->at < octets.size) {
        if (scan->at == limit)
            return refuse(431, "the head is too long", why);
        int status = check_octet(octets.data, scan->at, why);
        if (status)
            return status;
        if (octets.data[scan->at++] != '\n')
            continue;
        scan->line = scan->fields = scan->at;
        scan->lines = 1;
        return 0;
    }
    return 1;
}

int lw_response_scan(struct lw_scan *scan, struct luaweb_slice octets,
                     const struct lw_fields_limits *limits, const char **why)
{
    lw_require(octets.size >= scan->at);
    if (scan->lines == 0) {
        int status = scan_status_line(scan, octets, limits->size, why);
        if (status)
            return status;
    }
    struct lw_fields_limits rest = {limits->size - scan->fields, limits->count};
    return lw_fields_scan(scan, octets.data, octets.size, &rest, why);
}

static int read_number(struct luaweb_slice digits, uint64_t *number, const char **why)
{
    *number = 0;
    if (digits.size == 0)
        return refuse(400, "Content-Length is empty", why);
    for (size_t i = 0; i < digits.size; i++) {
        if (!is_digit(digits.data[i]))
            return refuse(400, "Content-Length is not a number", why);
        uint64_t digit = (uint64_t)(digits.data[i] - '0');
        if (*number > (INT64_MAX - digit) / 10)
            return refuse(400, "Content-Length is too large a number", why);
        *number = *number * 10 + digit;
    }
    return 0;
}

/* One number, or a list of equal ones, as joined lines are (RFC 9110 §8.6). */
static int judge_length(struct judgement *judgement, struct luaweb_slice rest)
{
    struct lw_response_head *response = judgement->response;
    for (bool goes_on = true; goes_on;) {
        const char *comma = rest.size ? memchr(rest.data, ',', rest.size) : NULL;
        size_t size = comma ? (size_t)(comma - rest.data) : rest.size;
        struct luaweb_slice digits = lw_slice_trim(lw_slice(rest.data, size));
        uint64_t number;
        int status = read_number(digits, &number, judgement->why);
        if (status)
            return status;
        if (response->has_length && number != response->content_length)
            return refuse(400, "Content-Length says two lengths", judgement->why);
        response->has_length = true;
        response->content_length = number;
        goes_on = comma != NULL;
        lw_slice_skip(&rest, size + goes_on);
    }
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

static int judge_field(struct judgement *judgement, const struct luaweb_field *field)
{
    switch (lw_field_bit(field->name)) {
    case LW_HAS_CONTENT_LENGTH: return judge_length(judgement, field->value);
    case LW_HAS_CONNECTION: judge_connection(judgement, field->value); return 0;
    case LW_HAS_TRANSFER_ENCODING:
        judgement->is_chunked =
            !judgement->has_coding
            && lw_slice_equal_nocase(field->value, LW_SLICE("chunked"));
        judgement->has_coding = true;
        return 0;
    default: return 0;
    }
}

/* Refuses what two readers could take in two ways, also where there is no content. */
static int conclude_coding(const struct judgement *judgement)
{
    const struct lw_response_head *response = judgement->response;
    if (!judgement->has_coding)
        return 0;
    if (response->minor_version == 0)
        return refuse(400, "Transfer-Encoding stands in HTTP/1.0", judgement->why);
    if (response->has_length)
        return refuse(400, "Transfer-Encoding stands with Content-Length",
                      judgement->why);
    if (!judgement->is_chunked)
        return refuse(400, "Transfer-Encoding is not chunked alone", judgement->why);
    return 0;
}

/* RFC 9112 §6.3: whatever the fields say. */
static bool is_without_content(uint32_t status, enum lw_response_to to)
{
    return to == LW_RESPONSE_TO_HEAD || status < 200 || status == 204 || status == 304;
}

/* Interim responses and 204 must not say that there is content (RFC 9110 §8.6, RFC 9112
 * §6.1).  Behind an interim one, what is content to its sender would be read as the
 * next head; behind a 204, the connection is given up. */
static int conclude_empty(const struct judgement *judgement)
{
    struct lw_response_head *response = judgement->response;
    bool announces = judgement->has_coding || response->content_length > 0;
    response->content = LW_RESPONSE_EMPTY;
    if (response->status < 200 && announces)
        return refuse(400, "an interim response announces content", judgement->why);
    if (response->status == 204 && announces)
        response->keep_alive = false;
    return 0;
}

static int conclude(const struct judgement *judgement, enum lw_response_to to)
{
    struct lw_response_head *response = judgement->response;
    response->keep_alive =
        !judgement->says_close
        && (response->minor_version == 1 || judgement->says_keep_alive);
    int status = conclude_coding(judgement);
    if (status)
        return status;
    if (is_without_content(response->status, to))
        return conclude_empty(judgement);
    response->content = judgement->is_chunked  ? LW_RESPONSE_CHUNKED
                        : response->has_length ? LW_RESPONSE_LENGTH
                                               : LW_RESPONSE_CLOSE;
    if (response->content == LW_RESPONSE_CLOSE)
        response->keep_alive = false;
    return 0;
}

static void read_status_line(const struct lw_scan *scan, const char *data,
                             struct lw_response_head *response)
{
    bool has_reason = data[SECOND_SPACE] == ' ';
    response->minor_version = data[MINOR] == '1';
    for (size_t i = STATUS; i < SECOND_SPACE; i++)
        response->status = response->status * 10 + (uint32_t)(data[i] - '0');
    if (has_reason)
        response->reason = lw_slice(data + REASON, scan->fields - REASON - 2);
}

int lw_response_parse(const struct lw_scan *scan, const char *data,
                      enum lw_response_to to, struct lw_response_head *response,
                      const char **why)
{
    lw_require(scan->lines > 1);
    *response = (struct lw_response_head){
        .fields = response->fields,
        .field_capacity = response->field_capacity,
        .field_count = response->field_capacity,
        .reason = lw_slice(data, 0),
    };
    read_status_line(scan, data, response);
    int status = lw_fields_read(data + scan->fields, scan->at - scan->fields,
                                response->fields, &response->field_count, why);
    /* Behind the head of a tunnel there is no message (RFC 9110 §9.3.6). */
    if (status || (to == LW_RESPONSE_TO_CONNECT && response->status / 100 == 2))
        return status;
    struct judgement judgement = {.response = response, .why = why};
    for (uint32_t i = 0; i < response->field_count && status == 0; i++)
        status = judge_field(&judgement, &response->fields[i]);
    return status ? status : conclude(&judgement, to);
}
