/* SPDX-License-Identifier: MIT
 *
 * The only place that writes the head of an HTTP/1 response, so that fast and slow
 * paths give the same octets.  Also the rules for fields that an app adds: framing
 * stays ours (RFC 9110 §6.4.1, §8.6; RFC 9112 §6). */
#ifndef LW_HTTP_REPLY_H
#define LW_HTTP_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"
#include "base/buffer.h"

enum lw_reply_framing {
    LW_REPLY_BARE,       /* 204 and 304: neither content nor a field about it */
    LW_REPLY_LENGTH,     /* Content-Length */
    LW_REPLY_CHUNKED,    /* Transfer-Encoding: chunked */
    LW_REPLY_UNTIL_CLOSE /* HTTP/1.0 and length not known: no field, then close */
};

struct lw_reply {
    int status; /* 200..599 */
    enum lw_reply_framing framing;
    uint64_t length;
    bool close;                 /* Connection: close */
    bool keep_alive;            /* Connection: keep-alive, for HTTP/1.0 clients */
    bool has_date;              /* among the fields */
    struct luaweb_slice type;   /* Content-Type; none when data is NULL */
    struct luaweb_slice fields; /* lines "Name: value CR LF" */
    const char *date;           /* 29 octets, IMF-fixdate */
};

/* Whether a response to `method` with this status may have content. */
bool lw_reply_has_content(struct luaweb_slice method, int status);

/* Appends the head. */
void lw_reply_head(struct lw_buffer *out, struct lw_blocks *blocks,
                   const struct lw_reply *reply);

/* What a field that the app adds means to us. */
enum lw_reply_field {
    LW_REPLY_FIELD_PLAIN,
    LW_REPLY_FIELD_TYPE,    /* Content-Type: instead of the default */
    LW_REPLY_FIELD_DATE,    /* Date: instead of ours */
    LW_REPLY_FIELD_LENGTH,  /* Content-Length: ours to write */
    LW_REPLY_FIELD_CLOSE,   /* Connection: close */
    LW_REPLY_FIELD_DROPPED, /* other framing and hop-by-hop fields */
    LW_REPLY_FIELD_BAD_NAME,
    LW_REPLY_FIELD_BAD_VALUE
};

/* Judges a field of a response or trailer; writes nothing. */
enum lw_reply_field lw_reply_judge(struct luaweb_slice name, struct luaweb_slice value);

/* Appends "name: value CR LF". */
void lw_reply_line(struct lw_buffer *out, struct lw_blocks *blocks,
                   struct luaweb_slice name, struct luaweb_slice value);

#endif
