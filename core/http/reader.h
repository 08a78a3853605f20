/* SPDX-License-Identifier: MIT
 *
 * Reads the responses that come over one connection of a client: octets in, heads and
 * pieces of content out, by pulling.  Owns the octets that are not read yet, at most
 * its limits and LUAWEB_READER_FEED more, and the decoder of the content.  Knows no
 * socket.  What it takes and gives is told in base/abi_reader.h, whose functions end
 * here.  RFC 9112 §4, §6, §7.1, §8. */
#ifndef LW_HTTP_READER_H
#define LW_HTTP_READER_H

#include "base/abi_reader.h"
#include "base/slice.h"
#include "http/decode.h"
#include "http/fields.h"

/* The caller owns it (lw_reader_free).  limits->size is that of a whole head. */
struct luaweb_reader *lw_reader_new(const struct lw_fields_limits *limits);
void lw_reader_free(struct luaweb_reader *reader);

void lw_reader_begin(struct luaweb_reader *reader, struct luaweb_slice method,
                     bool switches);
uint32_t lw_reader_feed(struct luaweb_reader *reader, struct luaweb_slice octets);
void lw_reader_end(struct luaweb_reader *reader, bool is_lost);

/* enum luaweb_reader_result, both it and lw_reader_body. */
int lw_reader_head(struct luaweb_reader *reader, struct luaweb_response_head *head);
bool lw_reader_decode(struct luaweb_reader *reader, struct luaweb_slice codings,
                      const struct lw_decoder_limits *limits);
int lw_reader_body(struct luaweb_reader *reader, struct luaweb_slice *piece);

struct luaweb_fields lw_reader_trailers(const struct luaweb_reader *reader);
struct luaweb_slice lw_reader_rest(struct luaweb_reader *reader);
bool lw_reader_done(struct luaweb_reader *reader);
const char *lw_reader_error(const struct luaweb_reader *reader);

#endif
