/* SPDX-License-Identifier: MIT
 *
 * The request target: which of its four forms it has and where its parts lie.  Owns
 * nothing and copies nothing; it must never decode, normalise or repair a target.
 * RFC 9112 §3.2, RFC 3986 §3.2. */
#ifndef LW_HTTP_TARGET_H
#define LW_HTTP_TARGET_H

#include "base/slice.h"

enum lw_target_form {
    LW_TARGET_ORIGIN,    /* /path?query */
    LW_TARGET_ABSOLUTE,  /* http://host:port/path?query */
    LW_TARGET_AUTHORITY, /* host:port, of CONNECT */
    LW_TARGET_ASTERISK   /* *, of OPTIONS: the server itself */
};

/* The slices lie in the target, but an absolute form without a path has the constant
 * "/".  OPTIONS without path and query has the constant "*" and LW_TARGET_ASTERISK (RFC
 * 9112 §3.2.4).  Parts that a form does not have are empty. */
struct lw_target {
    enum lw_target_form form;
    struct luaweb_slice scheme;    /* as sent: http or https in any case */
    struct luaweb_slice authority; /* host[:port] */
    struct luaweb_slice path;      /* not decoded; "*" for the asterisk form */
    struct luaweb_slice query;     /* without the question mark, not decoded */
    bool has_query;                /* tells an empty query from none */
};

/* Takes a target apart.  Every visible ASCII octet except # may stand in path and
 * query, also the few that RFC 3986 wants escaped, since browsers send them.
 *   0    done
 *   400  no target, or not one for this method; *why is a static sentence
 * RFC 9112 §3.2; RFC 9110 §4.2.1 (no empty host), §4.2.4 (no userinfo). */
int lw_target_parse(struct luaweb_slice method, struct luaweb_slice target,
                    struct lw_target *out, const char **why);

/* Whether these octets are host[:port]: a name, an address or an address in brackets,
 * none of them empty, and a port of at most 65535 that may be empty.
 * RFC 3986 §3.2.2, RFC 9110 §7.2. */
bool lw_authority_valid(struct luaweb_slice authority);

#endif
