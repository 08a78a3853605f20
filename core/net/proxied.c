/* SPDX-License-Identifier: MIT
 *
 * Whoever could speak to us past its proxies could say that it is anybody: so with
 * --proxy-protocol only they may speak, and must begin with its header. */
#include "net/proxied.h"

#include <stddef.h>

#include "base/log.h"
#include "base/slice.h"
#include "http/forwarded.h"
#include "http/proxy_header.h"
#include "net/loop.h"
#include "net/request.h"

#define SAY_MS 1000 /* between two complaints */

/* Says what is wrong, and what follows from that; not too often, since anybody may do
 * wrong as often as they like. */
static void complain(const struct lw_conn *conn, const char *what, const char *then)
{
    struct lw_loop *loop = conn->loop;
    uint64_t now_ms = uv_now(&loop->uv);
    if (now_ms < loop->complaint_again_ms) {
        loop->complaint_count++;
        return;
    }
    const char *peer = *conn->peer ? conn->peer : "a client that is gone";
    if (loop->complaint_count > 0)
        lw_log(LW_LOG_WARN, "%s: %s: %s (%u more were not said)", peer, what, then,
               loop->complaint_count);
    else
        lw_log(LW_LOG_WARN, "%s: %s: %s", peer, what, then);
    loop->complaint_count = 0;
    loop->complaint_again_ms = now_ms + SAY_MS;
}

static void close_at_once(struct lw_conn *conn, const char *why)
{
    complain(conn, why, "closed");
    lw_conn_drop(conn, false);
}

void lw_proxied_open(struct lw_conn *conn, const struct lw_peer *peer)
{
    const struct lw_loop *loop = conn->loop;
    conn->is_trusted = lw_networks_have(loop->trusted, peer);
    if (!loop->demands_proxy_header)
        return;
    if (conn->is_trusted)
        conn->state = LW_CONN_OPENING;
    else
        close_at_once(conn, "no --trusted-proxy, as --proxy-protocol wants it");
}

/* The connection is from now on the client's; its proxy may be one of several. */
static void begin(struct lw_conn *conn, const struct lw_peer *client)
{
    if (client->family != LW_FAMILY_NONE) {
        lw_peer_write(client, conn->peer);
        conn->is_trusted = lw_networks_have(conn->loop->trusted, client);
    }
    conn->state = LW_CONN_READING;
    conn->has_answered = true; /* the deadline of its first head starts now */
    lw_conn_advance(conn);
}

void lw_proxied_advance(struct lw_conn *conn)
{
    struct lw_buffer *in = &conn->in;
    struct lw_peer client;
    const char *why = "the PROXY header ends too early";
    size_t size;
    if (lw_buffer_size(in) == 0) { /* it only looked whether somebody is here */
        lw_conn_drop(conn, false);
        return;
    }
    struct luaweb_slice octets = lw_slice(in->data + in->start, lw_buffer_size(in));
    int result = lw_proxy_header_read(octets, &size, &client, &why);
    if (result == 1 && !conn->is_eof)
        return;
    if (result) {
        close_at_once(conn, why);
        return;
    }
    lw_buffer_consume(in, size);
    begin(conn, &client);
}

void lw_proxied_late(struct lw_conn *conn)
{
    close_at_once(conn, "the PROXY header did not come in time");
}

int lw_proxied_request(struct lw_conn *conn, struct lw_request *request,
                       const char **why)
{
    struct luaweb_request *facts = &request->facts;
    struct lw_forwarded said;
    int result = lw_forwarded_read(facts->headers, conn->loop->trusted, &request->arena,
                                   &said, why);
    if (result)
        complain(conn, *why, result > 0 ? "refused" : "not believed");
    if (result < 0) /* a client may have caused that: it is not the proxy itself */
        facts->peer = LW_SLICE("unknown");
    if (said.peer.size > 0)
        facts->peer = said.peer;
    if (said.scheme.size > 0)
        facts->scheme = said.scheme;
    if (said.host.size > 0)
        facts->host = said.host;
    return result > 0 ? result : 0;
}
