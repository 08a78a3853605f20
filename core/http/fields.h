/* SPDX-License-Identifier: MIT
 *
 * Field lines, as they stand in a head and in a trailer section: finding their end,
 * reading them, looking fields up.  Owns nothing: names and values are slices of the
 * octets given.  Must never decide what a field means for the message (that is head.c).
 * RFC 9112 §5, RFC 9110 §5. */
#ifndef LW_HTTP_FIELDS_H
#define LW_HTTP_FIELDS_H

#include "base/slice.h"

/* The fields that decisions look at, as bits of a mask. */
enum lw_has {
    LW_HAS_ACCEPT = 1 << 0,
    LW_HAS_ACCEPT_CHARSET = 1 << 1,
    LW_HAS_ACCEPT_ENCODING = 1 << 2,
    LW_HAS_ACCEPT_LANGUAGE = 1 << 3,
    LW_HAS_AUTHORIZATION = 1 << 4,
    LW_HAS_CONNECTION = 1 << 5,
    LW_HAS_CONTENT_ENCODING = 1 << 6,
    LW_HAS_CONTENT_LANGUAGE = 1 << 7,
    LW_HAS_CONTENT_LENGTH = 1 << 8,
    LW_HAS_CONTENT_RANGE = 1 << 9,
    LW_HAS_CONTENT_TYPE = 1 << 10,
    LW_HAS_COOKIE = 1 << 11,
    LW_HAS_EXPECT = 1 << 12,
    LW_HAS_HOST = 1 << 13,
    LW_HAS_IF_MATCH = 1 << 14,
    LW_HAS_IF_MODIFIED_SINCE = 1 << 15,
    LW_HAS_IF_NONE_MATCH = 1 << 16,
    LW_HAS_IF_RANGE = 1 << 17,
    LW_HAS_IF_UNMODIFIED_SINCE = 1 << 18,
    LW_HAS_ORIGIN = 1 << 19,
    LW_HAS_RANGE = 1 << 20,
    LW_HAS_REQUEST_HEADERS = 1 << 21, /* Access-Control-Request-Headers */
    LW_HAS_REQUEST_METHOD = 1 << 22,  /* Access-Control-Request-Method */
    LW_HAS_TE = 1 << 23,
    LW_HAS_TRANSFER_ENCODING = 1 << 24,
    LW_HAS_UPGRADE = 1 << 25
};

/* How far a head or a trailer section has been looked at.  Zero at its start; the
 * octets may move in memory between calls but must stay the same. */
struct lw_scan {
    size_t at;              /* octets looked at */
    size_t line;            /* where the line begins that has not ended yet */
    size_t fields;          /* where the first field line begins */
    size_t target_size;     /* of the request line, when it has been read so far */
    uint32_t method_size;   /* the same */
    uint32_t minor_version; /* the same: 0 or 1 */
    uint32_t lines;         /* that have ended, with request line and blank line */
    bool is_known;          /* the field lines are those that the memo has */
};

struct lw_fields_limits {
    size_t size;    /* octets of all field lines with the blank line */
    uint32_t count; /* field lines */
};

/* Looks for the blank line that ends the field lines, going on where it stopped.  The
 * cost over all calls is linear in the octets.
 *   0    there: the field lines and the blank line end at scan->at
 *   1    need more octets
 *   400  a line does not end in CRLF, or is folded; 431: a limit is passed */
int lw_fields_scan(struct lw_scan *scan, const char *data, size_t size,
                   const struct lw_fields_limits *limits, const char **why);

/* Reads field lines that lw_fields_scan found, from the first one to the end of the
 * blank line.  `fields` has room for *count of them, *count is then their number: in
 * order of arrival, names as sent, values without white space around them, duplicates
 * kept.  They are lent as long as `data` is.
 *   0    done
 *   400  a name is no token, a value has control octets, or the framing fields are in
 *        conflict (Content-Length repeated, malformed or beside Transfer-Encoding, a
 *        coding behind chunked)
 *   431  more than *count fields */
int lw_fields_parse(const char *data, size_t size, struct luaweb_field *fields,
                    uint32_t *count, const char **why);

/* The same, but what the fields say of the length of a message is the caller's to
 * judge: responses may have more than one Content-Length (RFC 9112 §6.3). */
int lw_fields_read(const char *data, size_t size, struct luaweb_field *fields,
                   uint32_t *count, const char **why);

/* The bit of a field name in any case; 0 for names that no decision looks at. */
uint32_t lw_field_bit(struct luaweb_slice name);

/* Whether a field is the one with this bit. */
bool lw_field_is(const struct luaweb_field *field, uint32_t bit);

/* The only line of the field with this bit, or NULL: none, or several, which no field
 * may have that is no list (RFC 9110 §5.3). */
const struct luaweb_field *lw_fields_only(struct luaweb_fields fields, uint32_t bit);

/* The first field of that name in any case, or NULL. */
const struct luaweb_field *lw_fields_find(const struct luaweb_field *fields,
                                          uint32_t count, struct luaweb_slice name);

/* Takes the next member off a comma list: trims it, moves `list` behind it and skips
 * empty members.  Only for lists without quoted commas.  False at the end. */
bool lw_list_next(struct luaweb_slice *list, struct luaweb_slice *member);

/* The octets of `text` before its first comma outside of quotes, or all. */
size_t lw_list_size(struct luaweb_slice text);

/* Whether a comma list has this token, in any case. */
bool lw_list_has(struct luaweb_slice list, struct luaweb_slice token);

/* The number of token octets that `data` begins with (RFC 9110 §5.6.2). */
size_t lw_token_size(const char *data, size_t size);

#endif
