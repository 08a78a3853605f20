/* SPDX-License-Identifier: MIT
 *
 * Client ends over transports.  A memory end is one half of a pair of unix sockets that
 * never had a name: the octets take the same way as any other client's. */
#include "net/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/require.h"
#include "net/conn.h"
#include "net/loop.h"
#include "net/transport.h"

struct lw_socket {
    struct lw_transport transport; /* first: the transport's callbacks find us by it */
    struct lw_loop *loop;
    uint32_t id;
    bool wants_read;
    bool wants_write;
    bool is_lost;
};

static void update(struct lw_socket *socket)
{
    lw_transport_want(&socket->transport, socket->wants_read, socket->wants_write,
                      false);
}

static void on_ready(struct lw_transport *transport, int status, int events)
{
    struct lw_socket *socket = (struct lw_socket *)transport;
    bool waited = socket->wants_read || socket->wants_write;
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
        update(socket);
    }
    if (waited)
        lw_loop_wake(socket->loop, socket->id);
}

static int add(struct lw_loop *loop, const struct lw_upcalls *owner, int fd)
{
    struct lw_socket *socket = lw_alloc(sizeof *socket);
    memset(socket, 0, sizeof *socket);
    socket->loop = loop;
    int error = lw_transport_open(&socket->transport, &loop->uv, fd, on_ready);
    if (error) {
        free(socket);
        return error;
    }
    socket->id = lw_loop_add_id(loop, owner, LW_ID_SOCKET, socket);
    return (int)socket->id;
}

int lw_socket_memory(struct lw_loop *loop, const struct lw_upcalls *owner,
                     struct luaweb_app *app)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
        return uv_translate_sys_error(errno);
    int id = add(loop, owner, pair[0]);
    if (id < 0) {
        close(pair[1]);
        return id;
    }
    int error = lw_conn_open(loop, app, pair[1]);
    if (error)
        lw_socket_close(loop, (uint32_t)id);
    return error ? error : id;
}

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

/* Fills in an address; its size, 0 when the text is none. */
static socklen_t read_address(union address *to, const char *text, int port)
{
    memset(to, 0, sizeof *to);
    if (strncmp(text, "unix:", 5) == 0) {
        size_t size = strlen(text + 5);
        if (size == 0 || size >= sizeof to->local.sun_path)
            return 0;
        to->local.sun_family = AF_UNIX;
        memcpy(to->local.sun_path, text + 5, size);
        return sizeof to->local;
    }
    if (uv_ip4_addr(text, port, &to->v4) == 0)
        return sizeof to->v4;
    if (uv_ip6_addr(text, port, &to->v6) == 0)
        return sizeof to->v6;
    return 0;
}

int lw_socket_connect(struct lw_loop *loop, const struct lw_upcalls *owner,
                      const char *text, int port)
{
    union address address;
    socklen_t size = read_address(&address, text, port);
    if (size == 0)
        return UV_EINVAL;
    int fd =
        socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return uv_translate_sys_error(errno);
    int on = 1;
    if (address.any.sa_family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, &address.any, size) != 0 && errno != EINPROGRESS) {
        int error = uv_translate_sys_error(errno);
        close(fd);
        return error;
    }
    return add(loop, owner, fd);
}

static int64_t judge(struct lw_socket *socket, ssize_t n, bool *wanted)
{
    if (n >= 0)
        return n;
    if (n != UV_EAGAIN) {
        socket->is_lost = true;
        return LUAWEB_SOCKET_RESET;
    }
    *wanted = true;
    update(socket);
    return LUAWEB_SOCKET_WAIT;
}

int64_t lw_socket_send(struct lw_loop *loop, uint32_t id, const char *data, size_t size)
{
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    if (!socket || socket->is_lost)
        return LUAWEB_SOCKET_RESET;
    ssize_t n = lw_transport_send(&socket->transport, data, size);
    return judge(socket, n, &socket->wants_write);
}

int64_t lw_socket_receive(struct lw_loop *loop, uint32_t id, char *data, size_t size)
{
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    if (!socket)
        return LUAWEB_SOCKET_RESET;
    ssize_t n = lw_transport_receive(&socket->transport, data, size);
    if (n == UV_EAGAIN && socket->is_lost)
        return LUAWEB_SOCKET_RESET;
    return judge(socket, n, &socket->wants_read);
}

void lw_socket_finish(struct lw_loop *loop, uint32_t id)
{
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    if (socket)
        lw_transport_finish(&socket->transport);
}

static void on_closed(struct lw_transport *transport)
{
    free(transport);
}

void lw_socket_close(struct lw_loop *loop, uint32_t id)
{
    struct lw_socket *socket = lw_loop_find_id(loop, LW_ID_SOCKET, id);
    if (!socket)
        return;
    lw_loop_wake(loop, id); /* who waits for it finds it gone */
    lw_loop_drop_id(loop, id);
    lw_transport_close(&socket->transport, false, on_closed);
}

void lw_socket_close_all(struct lw_loop *loop, const struct lw_upcalls *owner)
{
    for (uint32_t id = 0; id < loop->id_count; id++)
        if (lw_loop_find_own(loop, owner, LW_ID_SOCKET, id))
            lw_socket_close(loop, id);
}
