/* SPDX-License-Identifier: MIT
 *
 * What connections over TLS trust: the certificates of authorities, read once on the
 * thread pool, and the sessions that can be resumed.  RFC 5280, RFC 8446 §2.2. */
#ifndef LW_NET_TRUST_H
#define LW_NET_TRUST_H

#include <stdint.h>

#include "base/abi_client.h"

struct lw_loop;
struct lw_owner;
struct ssl_ctx_st;
struct ssl_session_st;

/* Begins to read certificates: of this file, or where it is NULL of the system's store
 * (SSL_CERT_FILE, SSL_CERT_DIR, or where OpenSSL was told to look when it was built);
 * where it is empty, none.  The caller holds the result until lw_trust_free.  NULL: too
 * many files are being read. */
struct luaweb_trust *lw_trust_begin(struct lw_loop *loop, struct lw_owner *owner,
                                    const char *file);

/* What is woken when it has been read. */
uint32_t lw_trust_id(const struct luaweb_trust *trust);

/* enum luaweb_trust_result; of a failure, *why is lent until lw_trust_free. */
int lw_trust_result(const struct luaweb_trust *trust, const char **why);

void lw_trust_hold(struct luaweb_trust *trust);

/* Ends one hold; at any time. */
void lw_trust_free(struct luaweb_trust *trust);

/* The context of connections, lent while the trust is held. */
struct ssl_ctx_st *lw_trust_context(const struct luaweb_trust *trust);

/* Keeps a session (takes it) under the name of what it was made with; another one may
 * have to go. */
void lw_trust_keep_session(struct luaweb_trust *trust, const char *name,
                           struct ssl_session_st *session);

/* A session to resume, which the caller then owns; NULL: there is none. */
struct ssl_session_st *lw_trust_take_session(struct luaweb_trust *trust,
                                             const char *name);

#endif
