/* SPDX-License-Identifier: MIT
 *
 * Readiness by uv_poll_t, octets by recv and send: the reader keeps its buffer to
 * itself, and reading can stop while a vanished peer is still noticed. */
#include "net/transport.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct lw_transport *transport = poll->data;
    /* Only asked for where reading rests; then it means that the other side has hung up
     * (or sends urgent data, which HTTP does not), and it would come again and
     * again. */
    if (status == 0 && (events & UV_PRIORITIZED))
        status = UV_ECONNRESET;
    transport->ready(transport, status, status < 0 ? 0 : events);
}

int lw_transport_open(struct lw_transport *transport, uv_loop_t *loop, int fd,
                      lw_transport_ready *ready)
{
    int error = uv_poll_init_socket(loop, &transport->poll, fd);
    if (error) {
        close(fd);
        return error;
    }
    transport->poll.data = transport;
    transport->fd = fd;
    transport->events = 0;
    transport->ready = ready;
    return 0;
}

void lw_transport_want(struct lw_transport *transport, bool readable, bool writable,
                       bool disconnect)
{
    int events = (readable ? UV_READABLE : 0) | (writable ? UV_WRITABLE : 0)
                 | (disconnect ? UV_DISCONNECT : 0);
    if (events == 0)
        events = UV_PRIORITIZED; /* errors are reported whatever is asked for */
    if (events == transport->events)
        return;
    transport->events = events;
    uv_poll_start(&transport->poll, events, on_poll);
}

struct lw_peer lw_transport_peer(const struct lw_transport *transport)
{
    union {
        struct sockaddr_storage any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {0};
    socklen_t size = sizeof address;
    if (getpeername(transport->fd, (struct sockaddr *)&address, &size) != 0)
        return (struct lw_peer){.family = LW_FAMILY_NONE};
    if (address.any.ss_family == AF_INET)
        return lw_peer_of(&address.v4.sin_addr, LW_FAMILY_V4);
    if (address.any.ss_family == AF_INET6)
        return lw_peer_of(&address.v6.sin6_addr, LW_FAMILY_V6);
    return (struct lw_peer){.family = LW_FAMILY_UNIX};
}

ssize_t lw_transport_receive(struct lw_transport *transport, void *data, size_t size)
{
    ssize_t n;
    do
        n = recv(transport->fd, data, size, 0);
    while (n < 0 && errno == EINTR);
    return n < 0 ? uv_translate_sys_error(errno) : n;
}

ssize_t lw_transport_send(struct lw_transport *transport, const void *data, size_t size)
{
    ssize_t n;
    do
        n = send(transport->fd, data, size, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? uv_translate_sys_error(errno) : n;
}

size_t lw_transport_unread(const struct lw_transport *transport)
{
    int size = 0;
    if (ioctl(transport->fd, SIOCOUTQ, &size) != 0 || size < 0)
        return 0;
    return (size_t)size;
}

void lw_transport_finish(struct lw_transport *transport)
{
    shutdown(transport->fd, SHUT_WR);
}

static void on_close(uv_handle_t *handle)
{
    struct lw_transport *transport = handle->data;
    transport->closed(transport);
}

void lw_transport_close(struct lw_transport *transport, bool reset,
                        lw_transport_closed *closed)
{
    transport->closed = closed;
    if (reset) {
        struct linger now = {.l_onoff = 1};
        setsockopt(transport->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    uv_close((uv_handle_t *)&transport->poll, on_close);
    close(transport->fd);
}
