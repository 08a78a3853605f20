/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua: connections to other servers.  For the rules, see
 * abi.h. */

#ifndef LW_BASE_ABI_CLIENT_H
#define LW_BASE_ABI_CLIENT_H

#include "base/abi.h"

/* 4 or 6, the version of a numeric IP address; 0: it is none. */
int luaweb_address_version(struct luaweb_host *host, const char *text);

/* Looks a host name up by the rules of the system, in the thread pool.  Lua owns the
 * lookup until it frees it, at any time.  NULL: too many wait.  With an end, the text
 * is lent until then: the numeric addresses, each with a line feed, best first, or why
 * there are none; and when it came, by luaweb_now.  Cancelling takes one out of line;
 * false: it runs or has ended. */
enum luaweb_lookup_result {
    LUAWEB_LOOKUP_WAIT, /* wait for the wake of its id, then ask again */
    LUAWEB_LOOKUP_DONE,
    LUAWEB_LOOKUP_FAILED
};
struct luaweb_lookup;
struct luaweb_lookup *luaweb_lookup_begin(struct luaweb_host *host, const char *name);
uint32_t luaweb_lookup_id(struct luaweb_host *host, const struct luaweb_lookup *lookup);
int luaweb_lookup_result(struct luaweb_host *host, const struct luaweb_lookup *lookup,
                         struct luaweb_slice *text, double *when);
bool luaweb_lookup_cancel(struct luaweb_host *host, struct luaweb_lookup *lookup);
void luaweb_lookup_free(struct luaweb_host *host, struct luaweb_lookup *lookup);

/* Begins to connect to a numeric address and port, or to "unix:/path": the id of a
 * socket, or a negative libuv error code.  When that has ended, `waker` is woken: the
 * id of another such socket, so that one wait is enough for several, or LUAWEB_NO_WAKER
 * for the socket's own. */
enum luaweb_waker {
    LUAWEB_NO_WAKER = -1
};
enum luaweb_connect_result {
    LUAWEB_CONNECT_FULL = -11 /* of luaweb_connect: the server's line is full */
};
int luaweb_connect(struct luaweb_host *host, const char *address, int port,
                   double waker);

/* 0: it is connected; 1: not yet; else the negative libuv error code of the end. */
int luaweb_connected(struct luaweb_host *host, uint32_t id);

/* What connections over TLS trust: the certificates of authorities, read in the thread
 * pool from this file in PEM form, from the system's store where it is NULL, or none
 * where it is empty.  Lua owns it until it frees it, at any time; connections that were
 * begun with it go on.  NULL: too many files are being read. */
enum luaweb_trust_result {
    LUAWEB_TRUST_WAIT,  /* wait for the wake of its id, then ask again */
    LUAWEB_TRUST_READ,  /* connections can begin */
    LUAWEB_TRUST_FAILED /* *why, lent until it is freed */
};
struct luaweb_trust;
struct luaweb_trust *luaweb_trust_begin(struct luaweb_host *host, const char *file);
uint32_t luaweb_trust_id(struct luaweb_host *host, const struct luaweb_trust *trust);
int luaweb_trust_result(struct luaweb_host *host, const struct luaweb_trust *trust,
                        const char **why);
void luaweb_trust_free(struct luaweb_host *host, struct luaweb_trust *trust);

/* How a connection is secured. */
struct luaweb_tls {
    struct luaweb_trust *trust; /* that was read */
    const char *name;           /* that the certificate must have: a host or address */
    const char *session;        /* sessions are resumed under the same text */
    const char *alpn;           /* protocols, each behind an octet with its length */
    size_t alpn_size;
    bool verifies;
};
struct luaweb_tls_facts {
    struct luaweb_slice protocol; /* that the server chose; empty: none */
    const char *version;          /* e.g. "TLSv1.3" */
    bool is_resumed;
};

/* Secures a connected socket: 0 when the handshake is over, 1: wait for the wake of the
 * socket, then call luaweb_handshake until it is; < 0: it has failed (luaweb_refusal
 * tells why), or there is no such socket.  Copies the options; the texts of the other
 * two are lent until the socket is closed. */
int luaweb_secure(struct luaweb_host *host, uint32_t id,
                  const struct luaweb_tls *options);
int luaweb_handshake(struct luaweb_host *host, uint32_t id);
const char *luaweb_refusal(struct luaweb_host *host, uint32_t id);
bool luaweb_tls_facts(struct luaweb_host *host, uint32_t id,
                      struct luaweb_tls_facts *facts);

#endif
