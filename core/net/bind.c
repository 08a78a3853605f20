/* SPDX-License-Identifier: MIT
 *
 * Makes listening sockets.  A TCP address is bound without SO_REUSEPORT and listened on,
 * so that one that is taken is seen; only then is it opened for others beside it. */
#include "net/bind.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "base/require.h"

/* A unix socket that nobody listens on is a leftover and may go. */
static bool is_stale(const struct sockaddr_un *address)
{
    struct stat info;
    if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool refused = connect(fd, (const struct sockaddr *)address, sizeof *address) != 0
                   && errno == ECONNREFUSED;
    close(fd);
    return refused;
}

static int bind_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (*path == 0)
        return UV_EINVAL;
    if (strlen(path) >= sizeof address.sun_path)
        return UV_ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return uv_translate_sys_error(errno);
    if (is_stale(&address))
        unlink(path);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        int error = uv_translate_sys_error(errno);
        close(fd);
        return error;
    }
    return fd;
}

/* What accepted sockets inherit.  Keep-alive finds a peer that vanished without a word,
 * within two minutes. */
static void set_inherited(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY,   1 },
        {SOL_SOCKET,  SO_KEEPALIVE,  1 },
        {IPPROTO_TCP, TCP_KEEPIDLE,  60},
        {IPPROTO_TCP, TCP_KEEPINTVL, 15},
        {IPPROTO_TCP, TCP_KEEPCNT,   4 },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof options[i].value);
}

static int new_tcp(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return uv_translate_sys_error(errno);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    set_inherited(fd);
    if (family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    return fd;
}

static int bind_one(const struct addrinfo *info)
{
    int fd = new_tcp(info->ai_family);
    if (fd < 0)
        return fd;
    if (bind(fd, info->ai_addr, info->ai_addrlen) != 0) {
        int error = uv_translate_sys_error(errno);
        close(fd);
        return error;
    }
    return fd;
}

static int bind_tcp(const char *host, int port)
{
    char service[8];
    snprintf(service, sizeof service, "%d", port);
    struct addrinfo hints = {
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
    };
    struct addrinfo *list;
    int failure = getaddrinfo(host, service, &hints, &list);
    if (failure)
        return failure == EAI_NONAME ? UV_EAI_NONAME : UV_EAI_FAIL;
    int fd = UV_EADDRNOTAVAIL;
    for (struct addrinfo *info = list; info && fd < 0; info = info->ai_next)
        fd = bind_one(info);
    freeaddrinfo(list);
    return fd;
}

int lw_bind_port(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return uv_translate_sys_error(errno);
    if (address.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return 0;
}

void lw_bound_path_note(struct lw_bound_path *bound, const char *path)
{
    struct stat info = {0};
    lstat(path, &info);
    bound->device = info.st_dev;
    bound->inode = info.st_ino;
    bound->path = lw_alloc(strlen(path) + 1);
    memcpy(bound->path, path, strlen(path) + 1);
}

void lw_bound_path_remove(struct lw_bound_path *bound)
{
    struct stat info;
    if (!bound->path)
        return;
    if (lstat(bound->path, &info) == 0 && info.st_dev == bound->device
        && info.st_ino == bound->inode)
        unlink(bound->path);
    lw_bound_path_forget(bound);
}

void lw_bound_path_forget(struct lw_bound_path *bound)
{
    free(bound->path);
    bound->path = NULL;
}

int lw_bind(const char *address, int port, struct lw_bound_path *bound)
{
    const char *path = strncmp(address, "unix:", 5) == 0 ? address + 5 : NULL;
    int fd = path ? bind_unix(path) : bind_tcp(address, port);
    if (fd < 0)
        return fd;
    if (path)
        lw_bound_path_note(bound, path);
    if (listen(fd, SOMAXCONN) == 0)
        return fd;
    int error = uv_translate_sys_error(errno);
    close(fd);
    lw_bound_path_remove(bound);
    return error;
}

static int bind_at(int fd, const struct sockaddr *address, socklen_t size)
{
    if (bind(fd, address, size) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    int error = uv_translate_sys_error(errno);
    close(fd);
    return error;
}

int lw_bind_beside(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0
        || getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return uv_translate_sys_error(errno);
    int other = new_tcp(address.ss_family);
    if (other < 0)
        return other;
    setsockopt(other, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    return bind_at(other, (struct sockaddr *)&address, size);
}
