/* SPDX-License-Identifier: MIT
 *
 * TLS (1.2 or newer) for the client's side of a connection, over a non-blocking
 * descriptor.  Checks who the server is.  RFC 5246, RFC 8446, RFC 9525. */
#ifndef LW_NET_TLS_H
#define LW_NET_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/abi_client.h"

struct lw_tls;
struct ssl_session_st;

/* Over this descriptor, which the caller owns; holds what it trusts.  Copies the
 * options.  NULL: the name can be none of a certificate. */
struct lw_tls *lw_tls_new(const struct luaweb_tls *options, int fd);

/* Tells the other side that nothing more comes, if that can be done at once. */
void lw_tls_free(struct lw_tls *tls);

/* The functions below may answer UV_EAGAIN: then *want (UV_READABLE, UV_WRITABLE) is
 * what the descriptor has to be first, whatever was asked for.  Any other error means
 * that the connection is lost. */

/* 0, or UV_EPROTO: lw_tls_failure tells why. */
int lw_tls_handshake(struct lw_tls *tls, int *want);

/* The octets taken.  After UV_EAGAIN the same octets must be given again. */
ssize_t lw_tls_send(struct lw_tls *tls, const void *data, size_t size, int *want);

/* The octets read; 0: the other side has said that it sends no more. */
ssize_t lw_tls_receive(struct lw_tls *tls, void *data, size_t size, int *want);

/* Says that we send no more; receiving goes on. */
int lw_tls_finish(struct lw_tls *tls, int *want);

/* Why the handshake has failed, lent until lw_tls_free. */
const char *lw_tls_failure(const struct lw_tls *tls);

/* What was agreed on; the texts are lent until lw_tls_free. */
void lw_tls_facts(const struct lw_tls *tls, struct luaweb_tls_facts *facts);

/* A message of the handshake, or of those behind it, came or goes. */
void lw_tls_count_message(struct lw_tls *tls);

/* A session came that can be resumed later.  1: it was taken. */
int lw_tls_keep_session(struct lw_tls *tls, struct ssl_session_st *session);

#endif
