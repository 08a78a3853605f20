/* SPDX-License-Identifier: MIT
 *
 * The head of an HTTP/1 request: request line and header fields, and what they say
 * about the message (framing, host, persistence, expectation).  Owns nothing: slices
 * lie in the octets given.  It is the only place that decides where content ends, and
 * must never guess: what two readers could take in two ways is refused.
 * RFC 9112 §2.2, §3, §6, §9.3; RFC 9110 §7.2, §10.1.1. */
#ifndef LW_HTTP_HEAD_H
#define LW_HTTP_HEAD_H

#include "base/slice.h"
#include "http/fields.h"
#include "http/target.h"

enum lw_framing {
    LW_FRAMING_NONE,   /* no content */
    LW_FRAMING_LENGTH, /* content_length octets, may be 0 */
    LW_FRAMING_CHUNKED /* see chunked.h */
};

/* The customary values are 8 KiB, 32 KiB and 128. */
struct lw_head_limits {
    size_t target;      /* octets of the target (414) */
    size_t header_size; /* octets of all field lines (431) */
    uint32_t fields;    /* field lines (431) */
};

struct lw_head_memo;

struct lw_head {
    struct lw_head_memo *memo;   /* set by the caller, may be NULL; see http/memo.h */
    struct luaweb_field *fields; /* set by the caller, with room for field_capacity */
    uint32_t field_capacity;     /* set by the caller */
    uint32_t field_count;        /* in order of arrival, duplicates kept */
    uint32_t present;            /* LW_HAS_* bits of the fields */
    struct luaweb_slice method;  /* as received, at most 64 octets */
    struct luaweb_slice target;  /* as received */
    struct lw_target parts;      /* of the target */
    struct luaweb_slice host;    /* the target's authority, else Host; may be empty */
    uint32_t minor_version;      /* 0 or 1 */
    enum lw_framing framing;
    uint64_t content_length; /* at most 2^63-1; 0 unless LW_FRAMING_LENGTH */
    bool keep_alive;         /* what the client wishes, by version and Connection */
    bool is_repeated;        /* its field lines are those that `memo` had */
    bool expects_continue;   /* Expect has 100-continue, in HTTP/1.1 */
};

/* The octets of empty lines that stand where a request line should begin, to be
 * dropped: the request begins behind them.  Call it again whenever octets have come and
 * scan->lines is still 0; the scan stays as it is.  RFC 9112 §2.2. */
size_t lw_head_skip(const char *data, size_t size);

/* Looks for the end of a head that `octets` begin with, going on where it stopped;
 * refuses it as soon as it can no longer become one.  The cost of all calls is linear.
 * `memo` is of the connection, or NULL.
 *   0      whole: *head_size octets, with scan->lines - 2 field lines
 *   1      need more octets
 *   >=100  the status to answer (400, 414, 431, 501, 505), then the connection must
 *          close; *why is a static sentence */
int lw_head_scan(struct lw_scan *scan, struct luaweb_slice octets,
                 const struct lw_head_limits *limits, const struct lw_head_memo *memo,
                 size_t *head_size, const char **why);

/* Reads the head that lw_head_scan found: `size` is its *head_size, `scan` is unchanged
 * since, and head->memo is what the scan was given.  `head` needs memo, fields and
 * field_capacity; its slices are lent as long as `data` is.
 *   0      done
 *   >=100  the status to answer (400, 431, 501), then the connection must close;
 *          *why is a static sentence; what head says then is not to be used */
int lw_head_parse(const struct lw_scan *scan, const char *data, size_t size,
                  struct lw_head *head, const char **why);

#endif
