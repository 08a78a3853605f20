/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua: reading what HTTP/1 servers send to a client of ours.
 * For the rules, see abi.h.
 */

#ifndef LW_BASE_ABI_READER_H
#define LW_BASE_ABI_READER_H

#include "base/abi.h"

/* What a reader answers.  The negative ones are final: no more can be read from this
 * connection, and luaweb_reader_error has the sentence. */
enum luaweb_reader_result {
    LUAWEB_READER_GIVEN = 0,      /* a head, or a piece of content that is not empty */
    LUAWEB_READER_WAIT = 1,       /* feed more octets, or tell the end */
    LUAWEB_READER_END = 2,        /* the content is complete */
    LUAWEB_READER_INTERIM = 3,    /* the head of an interim response; ask again */
    LUAWEB_READER_MALFORMED = -1, /* refused: not HTTP/1, or not clear where it ends */
    LUAWEB_READER_TOO_LARGE = -2, /* a limit is passed */
    LUAWEB_READER_CUT = -3,       /* the connection ended inside the response */
    LUAWEB_READER_SILENT = -4,    /* it ended without an octet of the response */
    LUAWEB_READER_UNDECODED = -5  /* the content is not what its coding wants */
};

enum luaweb_reader_limit {
    LUAWEB_READER_FEED = 65536,  /* octets that a reader takes at least when it waits */
    LUAWEB_READER_INTERIMS = 32, /* interim responses in front of one */
    LUAWEB_READER_TRAILERS = 8192,
    LUAWEB_READER_EXTENSIONS = 4096, /* octets of chunk extensions in one response */
    LUAWEB_READER_CODINGS = 3        /* content codings, one in the other */
};

struct luaweb_reader;

/* Slices are lent until something else is asked of the reader. */
struct luaweb_response_head {
    uint32_t status;
    uint32_t minor_version;
    uint32_t interims;    /* interim responses so far, this one included if it is one */
    uint32_t has_content; /* content may follow; false: luaweb_reader_body says END */
    uint32_t keep_alive;  /* as the server wishes; see luaweb_reader_done */
    uint32_t is_switched; /* a 101, or a tunnel: what follows is luaweb_reader_rest */
    double length;        /* what Content-Length says, or -1; with HEAD too */
    struct luaweb_slice reason;
    struct luaweb_fields headers; /* in order of arrival */
};

/* Limits: octets of one head, and its field lines.  Lua owns the reader. */
struct luaweb_reader *luaweb_reader_new(struct luaweb_host *host, uint32_t max_head,
                                        uint32_t max_fields);
void luaweb_reader_free(struct luaweb_host *host, struct luaweb_reader *reader);

/* Expects the response to a request of this method next: at the start, or when the one
 * before has been read to its END.  `switches`: a 101 is welcome, else it is refused. */
void luaweb_reader_begin(struct luaweb_host *host, struct luaweb_reader *reader,
                         const char *method, size_t size, bool switches);

/* Copies octets that have come; gives how many there was room for.  When the reader
 * waits, at least LUAWEB_READER_FEED fit. */
uint32_t luaweb_reader_feed(struct luaweb_host *host, struct luaweb_reader *reader,
                            const char *data, size_t size);

/* No more octets will come.  `is_lost`: the connection was reset, so that this ends no
 * content either. */
void luaweb_reader_end(struct luaweb_host *host, struct luaweb_reader *reader,
                       bool is_lost);

/* The next head: GIVEN or INTERIM fill *head. */
int luaweb_reader_head(struct luaweb_host *host, struct luaweb_reader *reader,
                       struct luaweb_response_head *head);

/* From here on, behind a head and before its content, takes the content codings off
 * that `codings` names, a Content-Encoding value (gzip, x-gzip, deflate, br, zstd,
 * identity).  The decoded content of every coding is limited to `limit` octets, and
 * behind the first 1 MiB to `ratio` times the octets received (0: no such limit).
 * false: it names others, or more than LUAWEB_READER_CODINGS; nothing is taken off. */
bool luaweb_reader_decode(struct luaweb_host *host, struct luaweb_reader *reader,
                          const char *codings, size_t size, double limit, double ratio);

/* The next piece of content, its framing (and codings) taken off. */
int luaweb_reader_body(struct luaweb_host *host, struct luaweb_reader *reader,
                       struct luaweb_slice *piece);

/* The trailers, once the body has said END. */
void luaweb_reader_trailers(struct luaweb_host *host, struct luaweb_reader *reader,
                            struct luaweb_fields *trailers);

/* Takes the octets that nobody has read: of what the connection was switched to, or
 * sent too much. */
void luaweb_reader_rest(struct luaweb_host *host, struct luaweb_reader *reader,
                        struct luaweb_slice *rest);

/* Whether the connection may be used for another request: all octets of the response
 * were taken (some may be left to decode), it wishes that, and none has come behind it.
 * A reader that is done holds next to no memory; what it lent ends. */
bool luaweb_reader_done(struct luaweb_host *host, struct luaweb_reader *reader);

/* Why it can't go on, as a sentence without a full stop; lent as the head is. */
const char *luaweb_reader_error(struct luaweb_host *host,
                                const struct luaweb_reader *reader);

#endif
