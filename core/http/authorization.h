/* SPDX-License-Identifier: MIT
 *
 * The value of an Authorization field, taken apart, and the credentials of the Basic
 * scheme.  Owns nothing, knows no user, and never says whether credentials are right.
 * RFC 9110 §11.4, §11.6.2; RFC 7617 §2; RFC 4648 §4. */
#ifndef LW_HTTP_AUTHORIZATION_H
#define LW_HTTP_AUTHORIZATION_H

#include "base/slice.h"

/* Slices of the text that was parsed, lent as long as its octets live. */
struct lw_authorization {
    struct luaweb_slice scheme; /* as written: letter case does not count in it */
    struct luaweb_slice rest;   /* behind the spaces, maybe empty */
    bool is_token;              /* `rest` is a token68; else nothing, or parameters */
};

/* Reads one field value.  A scheme stands alone, or one space or more (never a tab)
 * divide it from the rest.  False when the text is no such thing, with `found`
 * untouched.  RFC 9110 §11.4. */
bool lw_authorization_parse(struct luaweb_slice text, struct lw_authorization *found);

/* Decodes the token68 of the Basic scheme into `out`, which has room for token.size
 * octets; user (the name) and password (the value) are lent with it.  The first colon
 * divides them.  False for what is not exactly one base64 text (whole groups, padding
 * where it belongs, no bit left over), has no colon, or holds a control octet, which
 * neither part may; `out` may have been written to.  RFC 7617 §2, RFC 4648 §3.5, §4. */
bool lw_authorization_basic(struct luaweb_slice token, char *out,
                            struct luaweb_field *credentials);

#endif
