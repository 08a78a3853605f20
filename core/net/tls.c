/* SPDX-License-Identifier: MIT
 *
 * OpenSSL on the descriptor of a socket.  It reads and writes for reasons of its own (a
 * receive may have to write first), so that each call tells what to wait for.  Octets
 * that it holds are given before anybody waits: who waits has just been refused. */
#include "net/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/require.h"
#include "base/slice.h"
#include "net/connect.h"
#include "net/trust.h"

#define RECORDS  64 /* that are read in one go */
#define MESSAGES 16 /* of TLS itself among them, where nothing else is */

struct lw_tls {
    SSL *ssl;
    struct luaweb_trust *trust; /* held */
    bool is_broken;             /* no call but SSL_free is allowed any more */
    uint32_t messages;          /* of TLS itself that came or went */
    char failure[256];
    char session[]; /* the name of what can be resumed, NUL-terminated */
};

/* Whom the certificate must name.  An address is no name: neither does SNI carry it
 * (RFC 6066 §3).  A common name in the subject does not count (RFC 9525 §2). */
static bool expect_name(SSL *ssl, const char *name)
{
    X509_VERIFY_PARAM *rules = SSL_get0_param(ssl);
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS
                                               | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (lw_address_version(name) != 0)
        return X509_VERIFY_PARAM_set1_ip_asc(rules, name) == 1;
    bool is_name = name[0] && name[0] != '.'; /* which OpenSSL takes for any below */
    return is_name && X509_VERIFY_PARAM_set1_host(rules, name, 0) == 1
           && SSL_set_tlsext_host_name(ssl, name) == 1;
}

struct lw_tls *lw_tls_new(const struct luaweb_tls *options, int fd)
{
    size_t size = strlen(options->session) + 1;
    struct lw_tls *tls = lw_alloc(sizeof *tls + size);
    memset(tls, 0, sizeof *tls);
    memcpy(tls->session, options->session, size);
    lw_trust_hold(options->trust);
    tls->trust = options->trust;
    tls->ssl = SSL_new(lw_trust_context(options->trust));
    lw_require(tls->ssl && SSL_set_fd(tls->ssl, fd) == 1);
    SSL_set_app_data(tls->ssl, tls);
    SSL_set_verify(tls->ssl, options->verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                   NULL);
    if (!expect_name(tls->ssl, options->name)) {
        lw_tls_free(tls);
        return NULL;
    }
    if (options->alpn_size > 0)
        lw_require(SSL_set_alpn_protos(tls->ssl, (const unsigned char *)options->alpn,
                                       (unsigned)options->alpn_size)
                   == 0);
    SSL_SESSION *session = lw_trust_take_session(tls->trust, tls->session);
    if (session)
        SSL_set_session(tls->ssl, session);
    SSL_SESSION_free(session);
    SSL_set_connect_state(tls->ssl);
    return tls;
}

/* Closing a descriptor with octets that nobody has read resets the connection, and what
 * we sent last may be lost by that: TLS 1.3 servers send tickets that nobody waits
 * for. */
static void drain(const struct lw_tls *tls)
{
    char octets[4096];
    const int most = 16; /* the other side may be sending for ever */
    for (int i = 0; i < most; i++)
        if (recv(SSL_get_fd(tls->ssl), octets, sizeof octets, MSG_DONTWAIT) <= 0)
            return;
}

void lw_tls_free(struct lw_tls *tls)
{
    int want;
    if (SSL_is_init_finished(tls->ssl)) {
        lw_tls_finish(tls, &want);
        drain(tls);
    }
    SSL_free(tls->ssl);
    lw_trust_free(tls->trust);
    free(tls);
}

/* What a call that did not succeed means: UV_EAGAIN, 0 for an orderly end, or lost. */
static int judge(struct lw_tls *tls, int result, int *want)
{
    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ: *want = UV_READABLE; return UV_EAGAIN;
    case SSL_ERROR_WANT_WRITE: *want = UV_WRITABLE; return UV_EAGAIN;
    case SSL_ERROR_ZERO_RETURN: return 0;
    default: tls->is_broken = true; return UV_ECONNRESET;
    }
}

/* The texts of OpenSSL, but where they are about the protocol and not the fact. */
static const char *reason_of(const struct lw_tls *tls, int errno_of_call)
{
    long verified = SSL_get_verify_result(tls->ssl);
    if (verified != X509_V_OK && SSL_get_verify_mode(tls->ssl) != SSL_VERIFY_NONE)
        return X509_verify_cert_error_string(verified);
    unsigned long error = ERR_peek_error();
    const char *reason = ERR_reason_error_string(error);
    if (ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return "the server ended the connection";
    if (reason)
        return reason;
    return errno_of_call ? strerror(errno_of_call) : "the server ended the connection";
}

int lw_tls_handshake(struct lw_tls *tls, int *want)
{
    if (tls->is_broken)
        return UV_EPROTO;
    ERR_clear_error();
    errno = 0;
    int result = SSL_do_handshake(tls->ssl);
    if (result == 1)
        return 0;
    int code = errno;
    if (judge(tls, result, want) == UV_EAGAIN)
        return UV_EAGAIN;
    tls->is_broken = true;
    snprintf(tls->failure, sizeof tls->failure, "%s", reason_of(tls, code));
    return UV_EPROTO;
}

ssize_t lw_tls_send(struct lw_tls *tls, const void *data, size_t size, int *want)
{
    size_t total = 0;
    while (total < size) {
        size_t n = 0;
        if (tls->is_broken)
            return UV_ECONNRESET;
        ERR_clear_error();
        int result =
            SSL_write_ex(tls->ssl, (const char *)data + total, size - total, &n);
        if (result != 1) {
            int code = judge(tls, result, want);
            if (total == 0 || code != UV_EAGAIN)
                return code == 0 ? UV_ECONNRESET : code;
            break;
        }
        total += n;
    }
    return (ssize_t)total;
}

/* Whether octets of the connection lie there that OpenSSL has not read. */
static bool has_more(const struct lw_tls *tls)
{
    char octet;
    return recv(SSL_get_fd(tls->ssl), &octet, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* Reads once into what is left; adds to *total, or gives what it means that it can't. */
static int read_once(struct lw_tls *tls, struct luaweb_slice room, size_t *total,
                     int *want)
{
    size_t n = 0;
    if (tls->is_broken)
        return UV_ECONNRESET;
    ERR_clear_error();
    int result =
        SSL_read_ex(tls->ssl, (char *)room.data + *total, room.size - *total, &n);
    if (result != 1)
        return judge(tls, result, want);
    *total += n;
    return 1;
}

/* A record has 16 KiB at most: what else is there is read, too, but not any number of
 * records, which may have an octet each, or none: OpenSSL comes back from each message
 * of TLS itself, such as new keys, and who sends only those wants to keep us busy.  An
 * end without a close_notify is no end but a loss (RFC 8446 §6.1): somebody may have cut
 * it off. */
ssize_t lw_tls_receive(struct lw_tls *tls, void *data, size_t size, int *want)
{
    size_t total = 0;
    uint32_t messages = tls->messages;
    for (int i = 0; i < RECORDS && total < size; i++) {
        int code = read_once(tls, lw_slice(data, size), &total, want);
        if (code == 1)
            continue;
        if (total > 0)
            return (ssize_t)total;
        if (code != UV_EAGAIN || *want != UV_READABLE || !has_more(tls))
            return code;
    }
    if (total > 0)
        return (ssize_t)total;
    tls->is_broken = tls->messages - messages >= MESSAGES;
    return tls->is_broken ? UV_ECONNRESET : UV_EAGAIN;
}

int lw_tls_finish(struct lw_tls *tls, int *want)
{
    if (tls->is_broken)
        return UV_ECONNRESET;
    ERR_clear_error();
    int result = SSL_shutdown(tls->ssl);
    return result >= 0 ? 0 : judge(tls, result, want);
}

const char *lw_tls_failure(const struct lw_tls *tls)
{
    return tls->failure;
}

void lw_tls_facts(const struct lw_tls *tls, struct luaweb_tls_facts *facts)
{
    const unsigned char *protocol = NULL;
    unsigned size = 0;
    SSL_get0_alpn_selected(tls->ssl, &protocol, &size);
    facts->protocol = lw_slice((const char *)protocol, size);
    facts->version = SSL_get_version(tls->ssl);
    facts->is_resumed = SSL_session_reused(tls->ssl);
}

void lw_tls_count_message(struct lw_tls *tls)
{
    tls->messages++;
}

int lw_tls_keep_session(struct lw_tls *tls, SSL_SESSION *session)
{
    lw_trust_keep_session(tls->trust, tls->session, session);
    return 1;
}
