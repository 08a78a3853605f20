/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions by which Lua connects to other servers
 * (base/abi_client.h): for the rules, see abi.c. */
#include <assert.h>

#include "base/abi_client.h"
#include "host/vm.h"
#include "net/connect.h"
#include "net/names.h"
#include "net/socket.h"
#include "net/tls.h"
#include "net/trust.h"

#define EXPORT __attribute__((visibility("default")))

static_assert((int)LUAWEB_CONNECT_FULL == (int)UV_EAGAIN, "one code for both");

EXPORT int luaweb_address_version(struct luaweb_host *host, const char *text)
{
    (void)host;
    return lw_address_version(text);
}

EXPORT struct luaweb_lookup *luaweb_lookup_begin(struct luaweb_host *host,
                                                 const char *name)
{
    return lw_lookup_begin(host->loop, &host->owner, name);
}

EXPORT uint32_t luaweb_lookup_id(struct luaweb_host *host,
                                 const struct luaweb_lookup *lookup)
{
    (void)host;
    return lw_lookup_id(lookup);
}

EXPORT int luaweb_lookup_result(struct luaweb_host *host,
                                const struct luaweb_lookup *lookup,
                                struct luaweb_slice *text, double *when)
{
    (void)host;
    return lw_lookup_result(lookup, text, when);
}

EXPORT bool luaweb_lookup_cancel(struct luaweb_host *host, struct luaweb_lookup *lookup)
{
    (void)host;
    return lw_lookup_cancel(lookup);
}

EXPORT void luaweb_lookup_free(struct luaweb_host *host, struct luaweb_lookup *lookup)
{
    (void)host;
    lw_lookup_free(lookup);
}

EXPORT int luaweb_connect(struct luaweb_host *host, const char *address, int port,
                          double waker)
{
    uint32_t id = waker < 0 ? LW_NO_ID : (uint32_t)waker;
    return lw_socket_connect(host->loop, &host->owner, address, port, id);
}

EXPORT int luaweb_connected(struct luaweb_host *host, uint32_t id)
{
    return lw_socket_connected(host->loop, id);
}

EXPORT struct luaweb_trust *luaweb_trust_begin(struct luaweb_host *host,
                                               const char *file)
{
    return lw_trust_begin(host->loop, &host->owner, file);
}

EXPORT uint32_t luaweb_trust_id(struct luaweb_host *host,
                                const struct luaweb_trust *trust)
{
    (void)host;
    return lw_trust_id(trust);
}

EXPORT int luaweb_trust_result(struct luaweb_host *host,
                               const struct luaweb_trust *trust, const char **why)
{
    (void)host;
    return lw_trust_result(trust, why);
}

EXPORT void luaweb_trust_free(struct luaweb_host *host, struct luaweb_trust *trust)
{
    (void)host;
    lw_trust_free(trust);
}

EXPORT int luaweb_secure(struct luaweb_host *host, uint32_t id,
                         const struct luaweb_tls *options)
{
    return lw_socket_secure(host->loop, id, options);
}

EXPORT int luaweb_handshake(struct luaweb_host *host, uint32_t id)
{
    return lw_socket_handshake(host->loop, id);
}

EXPORT const char *luaweb_refusal(struct luaweb_host *host, uint32_t id)
{
    const struct lw_tls *tls = lw_socket_tls(host->loop, id);
    return tls ? lw_tls_failure(tls) : "";
}

EXPORT bool luaweb_tls_facts(struct luaweb_host *host, uint32_t id,
                             struct luaweb_tls_facts *facts)
{
    const struct lw_tls *tls = lw_socket_tls(host->loop, id);
    if (tls)
        lw_tls_facts(tls, facts);
    return tls != NULL;
}
