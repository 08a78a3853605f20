/* SPDX-License-Identifier: MIT
 *
 * Client ends over transports, with TLS between where it is asked for.  A memory end is
 * one half of a pair of unix sockets that never had a name: the octets take the same
 * way as any other client's. */
#include "net/socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/require.h"
#include "net/conn.h"
#include "net/connect.h"
#include "net/loop.h"
#include "net/tls.h"
#include "net/transport.h"

struct lw_socket {
    struct lw_transport transport; /* first: the transport's callbacks find us by it */
    struct lw_tls *tls;            /* owned; NULL: the octets go as they are */
    struct lw_loop *loop;
    uint32_t id;
    uint32_t waker; /* the id that is woken: its own but while it connects */
    int error;      /* that connecting ended with */
    bool is_connecting;
    bool is_finishing; /* the end of what we send can't go out yet */
    bool wants_read;
    bool wants_write;
    bool is_lost;
};

static void update(struct lw_socket *socket)
{
    lw_transport_want(&socket->transport, socket->wants_read, socket->wants_write,
                      false);
}

static void finish(struct lw_socket *socket);

static void on_ready(struct lw_transport *transport, int status, int events)
{
    struct lw_socket *socket = (struct lw_socket *)transport;
    bool waited = socket->wants_read || socket->wants_write;
    if (socket->is_connecting) {
        socket->is_connecting = false;
        socket->error = lw_connect_end(transport->fd);
        status = socket->error ? socket->error : status;
    }
    if (status < 0) {
        uv_poll_stop(&transport->poll);
        transport->events = 0;
        socket->is_lost = true;
        socket->wants_read = socket->wants_write = false;
    } else {
        if (events & UV_READABLE)
            socket->wants_read = false;
        if (events & UV_WRITABLE)
            socket->wants_write = false;
        if (socket->is_finishing)
            finish(socket);
        update(socket);
    }
    if (waited)
        lw_loop_wake(socket->loop, socket->waker);
}

static int add(struct lw_loop *loop, struct lw_owner *owner, int fd)
{
    struct lw_socket *socket = lw_alloc(sizeof *socket);
    memset(socket, 0, sizeof *socket);
    socket->loop = loop;
    int error = lw_transport_open(&socket->transport, &loop->uv, fd, on_ready);
    if (error) {
        free(socket);
        return error;
    }
    socket->id = socket->waker = lw_loop_add_id(loop, owner, LW_ID_SOCKET, socket);
    return (int)socket->id;
}

int lw_socket_memory(struct lw_loop *loop, struct lw_owner *owner,
                     const struct lw_site *site)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
        return uv_translate_sys_error(errno);
    int id = add(loop, owner, pair[0]);
    if (id < 0) {
        close(pair[1]);
        return id;
    }
    int error = lw_conn_open(loop, site, pair[1]);
    if (error)
        lw_socket_close(loop, (uint32_t)id, false);
    return error ? error : id;
}

int lw_socket_connect(struct lw_loop *loop, struct lw_owner *owner, const char *text,
                      int port, uint32_t waker)
{
    int fd = lw_connect_begin(text, port);
    if (fd < 0)
        return fd;
    int id = add(loop, owner, fd);
    if (id < 0)
        return id;
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, (uint32_t)id);
    socket->waker = waker == LW_NO_ID ? socket->id : waker;
    socket->is_connecting = socket->wants_write = true;
    update(socket);
    return id;
}

int lw_socket_connected(struct lw_loop *loop, uint32_t id)
{
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    if (!socket)
        return UV_ECANCELED;
    if (socket->is_connecting)
        return 1;
    socket->waker = socket->id;
    return socket->error;
}

int lw_socket_secure(struct lw_loop *loop, uint32_t id,
                     const struct luaweb_tls *options)
{
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    if (!socket || socket->is_connecting)
        return UV_ENOTCONN;
    if (socket->tls)
        return UV_EALREADY;
    socket->tls = lw_tls_new(options, socket->transport.fd);
    return socket->tls ? lw_socket_handshake(loop, id) : UV_EINVAL;
}

static void want(struct lw_socket *socket, int events)
{
    if (events & UV_READABLE)
        socket->wants_read = true;
    if (events & UV_WRITABLE)
        socket->wants_write = true;
    update(socket);
}

int lw_socket_handshake(struct lw_loop *loop, uint32_t id)
{
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    int events = 0;
    if (!socket || !socket->tls)
        return UV_ENOTCONN;
    int result = lw_tls_handshake(socket->tls, &events);
    if (result != UV_EAGAIN)
        return result;
    if (socket->is_lost)
        return UV_ECONNRESET;
    want(socket, events);
    return 1;
}

const struct lw_tls *lw_socket_tls(struct lw_loop *loop, uint32_t id)
{
    const struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    return socket ? socket->tls : NULL;
}

static int64_t judge(struct lw_socket *socket, ssize_t n, int events)
{
    if (n >= 0)
        return n;
    if (n != UV_EAGAIN || socket->is_lost) {
        socket->is_lost = true;
        return LUAWEB_SOCKET_RESET;
    }
    want(socket, events);
    return LUAWEB_SOCKET_WAIT;
}

int64_t lw_socket_send(struct lw_loop *loop, uint32_t id, const char *data, size_t size)
{
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    int events = UV_WRITABLE;
    if (!socket || socket->is_lost)
        return LUAWEB_SOCKET_RESET;
    ssize_t n = socket->tls ? lw_tls_send(socket->tls, data, size, &events)
                            : lw_transport_send(&socket->transport, data, size);
    return judge(socket, n, events);
}

int64_t lw_socket_receive(struct lw_loop *loop, uint32_t id, char *data, size_t size)
{
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    int events = UV_READABLE;
    if (!socket)
        return LUAWEB_SOCKET_RESET;
    ssize_t n = socket->tls ? lw_tls_receive(socket->tls, data, size, &events)
                            : lw_transport_receive(&socket->transport, data, size);
    return judge(socket, n, events);
}

static void finish(struct lw_socket *socket)
{
    int events = 0;
    if (!socket->tls) {
        lw_transport_finish(&socket->transport);
        return;
    }
    socket->is_finishing = lw_tls_finish(socket->tls, &events) == UV_EAGAIN;
    if (socket->is_finishing)
        want(socket, events);
}

void lw_socket_finish(struct lw_loop *loop, uint32_t id)
{
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    if (socket)
        finish(socket);
}

static void on_closed(struct lw_transport *transport)
{
    free(transport);
}

void lw_socket_close(struct lw_loop *loop, uint32_t id, bool reset)
{
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    if (!socket)
        return;
    lw_loop_wake(loop, id); /* who waits for it finds it gone */
    lw_loop_drop_id(loop, id);
    if (socket->tls)
        lw_tls_free(socket->tls);
    lw_transport_close(&socket->transport, reset, on_closed);
}

void lw_socket_close_all(struct lw_loop *loop, struct lw_owner *owner)
{
    for (uint32_t id = 0; id < loop->id_count; id++)
        if (lw_loop_find_own(loop, owner, LW_ID_SOCKET, id))
            lw_socket_close(loop, id, false);
}
