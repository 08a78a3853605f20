/* SPDX-License-Identifier: MIT
 *
 * What --listen takes: host:port, [address]:port or unix:/path. */
#ifndef LW_PROCESS_ADDRESS_H
#define LW_PROCESS_ADDRESS_H

#include <stdbool.h>

#define LW_ADDRESS_HOST 256 /* octets of a host at most, with its NUL */

struct lw_address {
    const char *text;           /* as it was given, borrowed */
    const char *path;           /* of a unix socket; NULL: TCP */
    char host[LW_ADDRESS_HOST]; /* without brackets */
    bool has_brackets;
    int port;
};

/* Reads one; `text` is held.  false: it is none. */
bool lw_address_read(struct lw_address *address, const char *text);

/* Whether only processes of this machine reach it, as far as the text tells: a unix
 * socket, localhost, 127.0.0.0/8, ::1. */
bool lw_address_is_here(const struct lw_address *address);

/* How people write it, with the port that it got: an URI or "unix:/path".  The caller's
 * (free). */
char *lw_address_show(const struct lw_address *address, int port);

#endif
