/* SPDX-License-Identifier: MIT
 *
 * The head of an HTTP/1 response: status line and fields, and what they say about the
 * message (framing, whether the connection stays).  Owns nothing: slices lie in the
 * octets given.  For responses it is the only place that decides where content ends,
 * and must never guess: what two readers could take in two ways is refused.
 * RFC 9112 §4, §5, §6.3, §9.3. */
#ifndef LW_HTTP_RESPONSE_H
#define LW_HTTP_RESPONSE_H

#include "base/slice.h"
#include "http/fields.h"

/* What the framing of a response depends on beside itself: the request's method. */
enum lw_response_to {
    LW_RESPONSE_TO_OTHER,
    LW_RESPONSE_TO_HEAD,
    LW_RESPONSE_TO_CONNECT
};

/* How content is framed. */
enum lw_response_content {
    LW_RESPONSE_EMPTY,   /* there is none, whatever the fields say */
    LW_RESPONSE_LENGTH,  /* content_length octets, may be 0 */
    LW_RESPONSE_CHUNKED, /* see chunked.h */
    LW_RESPONSE_CLOSE    /* until the connection ends */
};

struct lw_response_head {
    struct luaweb_field *fields; /* set by the caller, with room for field_capacity */
    uint32_t field_capacity;     /* set by the caller: scan->lines - 2 is enough */
    uint32_t field_count;        /* in order of arrival, duplicates kept */
    uint32_t status;             /* 100 to 599 */
    uint32_t minor_version;      /* 0 or 1 */
    struct luaweb_slice reason;  /* as received, may be empty or have octets over 127 */
    enum lw_response_content content;
    uint64_t content_length; /* what Content-Length says; at most 2^63-1, else 0 */
    bool has_length;         /* there is a Content-Length, which may not count */
    bool keep_alive;         /* the connection may be used again behind the content */
};

/* Which it is; methods are case-sensitive. */
enum lw_response_to lw_response_to(struct luaweb_slice method);

/* Looks for the end of a head that `octets` begin with, going on where it stopped;
 * refuses it as soon as it can no longer become one.  `scan` is zero at the start.  The
 * cost of all calls is linear.  limits->size is that of the whole head.
 *   0    whole: scan->at octets, with scan->lines - 2 field lines
 *   1    need more octets
 *   400  it is none: no HTTP/1.0 or 1.1, a line that does not end in CRLF or is folded;
 *   431  a limit is passed; *why is a static sentence */
int lw_response_scan(struct lw_scan *scan, struct luaweb_slice octets,
                     const struct lw_fields_limits *limits, const char **why);

/* Reads the head that lw_response_scan found: `data` holds its scan->at octets.
 * `response` needs fields and field_capacity; its slices are lent as long as `data` is.
 *   0    done
 *   400  a field is malformed, or it is not clear where the content ends: lengths that
 *        differ, Transfer-Encoding in HTTP/1.0, beside Content-Length, or other than
 *        chunked alone.  *why is a static sentence; `response` is not to be used */
int lw_response_parse(const struct lw_scan *scan, const char *data,
                      enum lw_response_to to, struct lw_response_head *response,
                      const char **why);

#endif
