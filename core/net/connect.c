/* SPDX-License-Identifier: MIT
 *
 * Connecting without blocking: connect(2) begins, SO_ERROR tells how it ended. */
#include "net/connect.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

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

int lw_address_version(const char *text)
{
    union address address;
    if (uv_ip4_addr(text, 0, &address.v4) == 0)
        return 4;
    return uv_ip6_addr(text, 0, &address.v6) == 0 ? 6 : 0;
}

int lw_connect_begin(const char *text, int port)
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
    return fd;
}

static bool is_same(const union address *a, const union address *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET)
        return a->v4.sin_port == b->v4.sin_port
               && a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr;
    return a->any.sa_family == AF_INET6 && a->v6.sin6_port == b->v6.sin6_port
           && IN6_ARE_ADDR_EQUAL(&a->v6.sin6_addr, &b->v6.sin6_addr);
}

/* Nobody listened on a port that the kernel hands out to clients, and it gave that very
 * port to us: both sides of the connection are this socket. */
static bool is_to_itself(int fd)
{
    union address ours;
    union address theirs;
    socklen_t size = sizeof ours;
    socklen_t their_size = sizeof theirs;
    memset(&ours, 0, sizeof ours);
    memset(&theirs, 0, sizeof theirs);
    return getsockname(fd, &ours.any, &size) == 0
           && getpeername(fd, &theirs.any, &their_size) == 0 && is_same(&ours, &theirs);
}

int lw_connect_end(int fd)
{
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    if (error == 0 && is_to_itself(fd))
        error = ECONNREFUSED;
    return uv_translate_sys_error(error);
}
