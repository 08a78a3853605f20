/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua: connections to other servers.  For the rules, see
 * abi.h. */

#ifndef LW_BASE_ABI_CLIENT_H
#define LW_BASE_ABI_CLIENT_H

#include "base/abi.h"

/* 4 or 6, the version of a numeric IP address; 0: it is none. */
int luaweb_address_version(struct luaweb_host *host, const char *text);

/* Begins to connect to a numeric address and port, or to "unix:/path": the id of a
 * socket, or a negative libuv error code.  When that has ended, `waker` is woken: the
 * id of another such socket, so that one wait is enough for several, or LUAWEB_NO_WAKER
 * for the socket's own. */
enum luaweb_waker {
    LUAWEB_NO_WAKER = -1
};
int luaweb_connect(struct luaweb_host *host, const char *address, int port,
                   double waker);

/* 0: it is connected; 1: not yet; else the negative libuv error code of the end. */
int luaweb_connected(struct luaweb_host *host, uint32_t id);

#endif
