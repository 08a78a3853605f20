/* SPDX-License-Identifier: MIT
 *
 * The header that a proxy puts in front of a connection's octets to say whose they are:
 * the PROXY protocol, version 1 (a line) and version 2 (binary), as HAProxy's
 * proxy-protocol.txt has it.  Must never guess: octets that begin no header are
 * refused.  Owns nothing. */
#ifndef LW_HTTP_PROXY_HEADER_H
#define LW_HTTP_PROXY_HEADER_H

#include "base/peer.h"

#define LW_PROXY_LINE  107  /* octets of a version 1 line, with its CRLF */
#define LW_PROXY_BLOCK 4096 /* octets of a version 2 header, with all that is added */

/* Reads the header that `octets` begin with, from its start at each call.
 *   0     whole: *size octets.  client->family is LW_FAMILY_NONE where the connection is
 *         the proxy's own (LOCAL), or one of which it can't tell (UNKNOWN): then the
 *         address of the socket stays.  What version 2 adds (TLVs) is skipped.
 *   1     need more octets
 *   400   no header, or a malformed one, as soon as that is known; *why is a static
 *         sentence */
int lw_proxy_header_read(struct luaweb_slice octets, size_t *size,
                         struct lw_peer *client, const char **why);

#endif
