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
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "base/require.h"

#define USUAL_MODE 0600
#define MOST_TRIES 32 /* of a free port that a name's other addresses have free, too */

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

/* Binds so that the path never had another mode: changing it later would leave a moment
 * for others, and follow a link that they put there. */
static int bind_path(int fd, const struct sockaddr_un *address, uint32_t mode)
{
    mode_t before = umask(0777 & ~(mode_t)(mode ? mode : USUAL_MODE));
    int result = bind(fd, (const struct sockaddr *)address, sizeof *address);
    int error = result == 0 ? 0 : uv_translate_sys_error(errno);
    umask(before);
    return error;
}

static int bind_unix(const char *path, uint32_t mode)
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
    int error = bind_path(fd, &address, mode);
    if (error)
        close(fd);
    return error ? error : fd;
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

static int listen_at(int fd, const struct sockaddr *address, socklen_t size)
{
    if (fd < 0 || (bind(fd, address, size) == 0 && listen(fd, SOMAXCONN) == 0))
        return fd;
    int error = uv_translate_sys_error(errno);
    close(fd);
    return error;
}

static void set_port(struct sockaddr *address, int port)
{
    if (address->sa_family == AF_INET)
        ((struct sockaddr_in *)address)->sin_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in6 *)address)->sin6_port = htons((uint16_t)port);
}

/* Whether an address stands in the list before: a hosts file may have it twice. */
static bool is_again(const struct addrinfo *list, const struct addrinfo *info)
{
    for (; list != info; list = list->ai_next)
        if (list->ai_addrlen == info->ai_addrlen
            && memcmp(list->ai_addr, info->ai_addr, info->ai_addrlen) == 0)
            return true;
    return false;
}

/* Whether this machine has no such address, so that others may do. */
static bool is_missing(int error)
{
    return error == UV_EADDRNOTAVAIL || error == UV_EAFNOSUPPORT;
}

static void close_all(struct lw_bound *bound)
{
    while (bound->count > 0)
        close(bound->fds[--bound->count]);
}

/* Binds all of the list, at the port that the first one gets where none is given. */
static int bind_list(const struct addrinfo *list, int port, struct lw_bound *bound)
{
    int error = UV_EADDRNOTAVAIL;
    for (const struct addrinfo *info = list; info; info = info->ai_next) {
        if (bound->count == LW_MAX_ADDRESSES || is_again(list, info))
            continue;
        struct sockaddr_storage address = {0};
        memcpy(&address, info->ai_addr, info->ai_addrlen);
        set_port((struct sockaddr *)&address, port);
        int fd = listen_at(new_tcp(info->ai_family), (struct sockaddr *)&address,
                           info->ai_addrlen);
        if (fd >= 0) {
            bound->fds[bound->count++] = fd;
            port = lw_bind_port(fd);
        } else if (is_missing(fd)) {
            error = fd;
        } else {
            close_all(bound);
            return fd;
        }
    }
    return bound->count > 0 ? 0 : error;
}

static int bind_tcp(const char *host, int port, struct lw_bound *bound)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *list;
    /* Whatever the hosts file says (RFC 6761 §6.3), it is ::1 and 127.0.0.1. */
    bool is_localhost = strcasecmp(host, "localhost") == 0;
    int failure = getaddrinfo(is_localhost ? NULL : host, "0", &hints, &list);
    if (failure)
        return failure == EAI_NONAME ? UV_EAI_NONAME : UV_EAI_FAIL;
    int error = UV_EADDRINUSE;
    int tries = port == 0 && list->ai_next ? MOST_TRIES : 1;
    for (int i = 0; i < tries && error == UV_EADDRINUSE; i++)
        error = bind_list(list, port, bound);
    freeaddrinfo(list);
    return error;
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

/* Whether what lies there is what we made. */
static bool is_still_ours(const struct lw_bound_path *bound)
{
    struct stat info;
    return bound->path && lstat(bound->path, &info) == 0 && info.st_dev == bound->device
           && info.st_ino == bound->inode;
}

void lw_bound_path_remove(struct lw_bound_path *bound)
{
    if (is_still_ours(bound))
        unlink(bound->path);
    lw_bound_path_forget(bound);
}

int lw_bound_path_give(const struct lw_bound_path *bound, uid_t uid, gid_t gid)
{
    if (is_still_ours(bound) && lchown(bound->path, uid, gid) != 0)
        return uv_translate_sys_error(errno);
    return 0;
}

void lw_bound_path_forget(struct lw_bound_path *bound)
{
    free(bound->path);
    bound->path = NULL;
}

int lw_bind(const char *address, int port, uint32_t unix_mode, struct lw_bound *bound)
{
    bound->count = 0;
    bound->path.path = NULL;
    if (strncmp(address, "unix:", 5) != 0)
        return bind_tcp(address, port, bound);
    int fd = bind_unix(address + 5, unix_mode);
    if (fd < 0)
        return fd;
    lw_bound_path_note(&bound->path, address + 5);
    if (listen(fd, SOMAXCONN) == 0) {
        bound->fds[bound->count++] = fd;
        return 0;
    }
    int error = uv_translate_sys_error(errno);
    close(fd);
    lw_bound_path_remove(&bound->path);
    return error;
}

int lw_bind_reserve(int fd)
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
    if (bind(other, (struct sockaddr *)&address, size) == 0)
        return other;
    int error = uv_translate_sys_error(errno);
    close(other);
    return error;
}

int lw_bind_listen(int fd)
{
    if (fd < 0 || listen(fd, SOMAXCONN) == 0)
        return fd;
    int error = uv_translate_sys_error(errno);
    close(fd);
    return error;
}

int lw_bind_beside(int fd)
{
    return lw_bind_listen(lw_bind_reserve(fd));
}

void lw_bind_adopt(int fd)
{
    set_inherited(fd);
}
