/* SPDX-License-Identifier: MIT
 *
 * Descriptors on their way to an address: TCP and unix sockets. */
#ifndef LW_NET_CONNECT_H
#define LW_NET_CONNECT_H

/* 4 or 6, the version of a numeric address; 0 when the text is none. */
int lw_address_version(const char *text);

/* Begins to connect to a numeric address ("192.0.2.1", "2001:db8::1", "fe80::1%eth0")
 * and port, or to "unix:/path".  Gives a non-blocking descriptor that the caller owns,
 * closed on exec, with TCP_NODELAY; or a negative libuv error. */
int lw_connect_begin(const char *text, int port);

/* What became of it, once it is writable or reports an error: 0 or a negative libuv
 * error.  To be asked once. */
int lw_connect_end(int fd);

#endif
