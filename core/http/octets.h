/* SPDX-License-Identifier: MIT
 *
 * What an octet may be part of, as bits in one table: what peers send is read octet by
 * octet, so that it pays not to compute it.  RFC 9110 §5.6.2, RFC 3986 §2, §3.2.2. */
#ifndef LW_HTTP_OCTETS_H
#define LW_HTTP_OCTETS_H

#include <stdint.h>

enum lw_octet {
    LW_OCTET_TOKEN = 1, /* a token */
    LW_OCTET_NAME = 2,  /* a registered name, but for escapes: unreserved, sub-delims */
    LW_OCTET_TARGET = 4, /* a request target: visible, no # */
    LW_OCTET_HEX = 8     /* a hexadecimal number */
};

/* LW_OCTET_* bits. */
extern const uint8_t lw_octets[256];

#endif
