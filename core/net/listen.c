/* SPDX-License-Identifier: MIT
 *
 * Binding, and accepting in batches.  Without a free descriptor accepting rests until a
 * connection closes, so that the loop does not spin. */
#include "net/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "base/log.h"
#include "base/require.h"
#include "net/conn.h"
#include "net/loop.h"

#define ACCEPTS_PER_TURN 256
#define ACCEPT_AGAIN_MS  100

struct lw_listener {
    uv_poll_t poll;
    struct lw_loop *loop;
    const struct lw_site *site; /* held */
    struct lw_listener *next;
    int fd;
    int most;          /* connections to accept in a turn */
    uint32_t listener; /* of an adopted one */
    uint32_t slot;
    bool is_adopted;
    char *path;   /* of a unix socket, owned; else NULL */
    dev_t device; /* of that path, as we made it */
    ino_t inode;
};

static void on_ready(uv_poll_t *poll, int status, int events);

static void on_accept_again(uv_timer_t *timer)
{
    lw_listen_resume_all(timer->data);
}

/* Somebody else may give a descriptor back: it is tried again soon, at the latest. */
static void pause_all(struct lw_loop *loop)
{
    if (!loop->has_said_full)
        lw_log(LW_LOG_WARN,
               "no descriptor left: accepting rests until one is given back"
               " (%u connections; see ulimit -n)",
               loop->conn_count);
    loop->is_accepting_paused = loop->has_said_full = true;
    for (struct lw_listener *l = loop->listeners; l; l = l->next)
        uv_poll_stop(&l->poll);
    uv_timer_start(&loop->accept_again, on_accept_again, ACCEPT_AGAIN_MS, 0);
}

void lw_listen_resume_all(struct lw_loop *loop)
{
    if (!loop->is_accepting_paused)
        return;
    loop->is_accepting_paused = false;
    uv_timer_stop(&loop->accept_again);
    for (struct lw_listener *l = loop->listeners; l; l = l->next)
        uv_poll_start(&l->poll, UV_READABLE, on_ready);
}

/* Accepts at most `most` connections that wait. */
static void accept_waiting(struct lw_listener *listener, int most)
{
    for (int i = 0; i < most; i++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            listener->loop->has_said_full = false;
            int error = lw_conn_open(listener->loop, listener->site, fd);
            if (error)
                lw_log(LW_LOG_ERROR, "a connection is lost: %s", uv_strerror(error));
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_all(listener->loop);
        if (errno != ECONNABORTED && errno != EINTR)
            return;
    }
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct lw_listener *listener = poll->data;
    (void)events;
    if (status < 0)
        lw_log(LW_LOG_ERROR, "a listener is lost: %s", uv_strerror(status));
    else
        accept_waiting(listener, listener->most);
}

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

static int bind_one(const struct addrinfo *info)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return uv_translate_sys_error(errno);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    set_inherited(fd);
    if (info->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
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

static int port_of(int fd)
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

static void on_close(uv_handle_t *handle)
{
    free(handle->data);
}

/* Takes a listening descriptor. */
static int add(struct lw_loop *loop, const struct lw_site *site, int fd)
{
    struct lw_listener *listener = lw_alloc(sizeof *listener);
    *listener = (struct lw_listener){
        .loop = loop, .site = site, .fd = fd, .most = ACCEPTS_PER_TURN};
    int error = uv_poll_init_socket(&loop->uv, &listener->poll, fd);
    if (error) {
        free(listener);
        return error;
    }
    listener->poll.data = listener;
    error = uv_poll_start(&listener->poll, UV_READABLE, on_ready);
    if (error) {
        uv_close((uv_handle_t *)&listener->poll, on_close);
        return error;
    }
    listener->next = loop->listeners;
    loop->listeners = listener;
    return 0;
}

/* Listens with a bound descriptor; its port. */
static int start(struct lw_loop *loop, const struct lw_site *site, int fd)
{
    if (listen(fd, SOMAXCONN) != 0)
        return uv_translate_sys_error(errno);
    int port = port_of(fd);
    int error = port < 0 ? port : add(loop, site, fd);
    return error ? error : port;
}

static void remember_path(struct lw_listener *listener, const char *path)
{
    struct stat info = {0};
    lstat(path, &info);
    listener->device = info.st_dev;
    listener->inode = info.st_ino;
    listener->path = lw_alloc(strlen(path) + 1);
    memcpy(listener->path, path, strlen(path) + 1);
}

/* Removes the path, unless somebody else has put a socket of theirs there. */
static void remove_path(const struct lw_listener *listener)
{
    struct stat info;
    if (lstat(listener->path, &info) == 0 && info.st_dev == listener->device
        && info.st_ino == listener->inode)
        unlink(listener->path);
}

int lw_listen(struct lw_loop *loop, const struct lw_site *site, const char *address,
              int port)
{
    const char *path = strncmp(address, "unix:", 5) == 0 ? address + 5 : NULL;
    int fd = path ? bind_unix(path) : bind_tcp(address, port);
    if (fd < 0)
        return fd;
    int bound = start(loop, site, fd);
    if (bound < 0) {
        close(fd);
        if (path)
            unlink(path);
        return bound;
    }
    if (path)
        remember_path(loop->listeners, path);
    return bound;
}

int lw_listen_adopt(struct lw_loop *loop, const struct lw_site *site,
                    const struct lw_adopted *adopted)
{
    int error = add(loop, site, adopted->fd);
    if (error) {
        close(adopted->fd);
        return error;
    }
    struct lw_listener *listener = loop->listeners;
    listener->listener = adopted->listener;
    listener->slot = adopted->slot;
    listener->is_adopted = true;
    if (adopted->most > 0)
        listener->most = adopted->most;
    return 0;
}

static void stop(struct lw_listener *listener)
{
    uv_close((uv_handle_t *)&listener->poll, on_close);
    close(listener->fd);
    if (listener->path)
        remove_path(listener);
    free(listener->path);
}

void lw_listen_cease(struct lw_loop *loop, uint32_t listener, uint32_t slot)
{
    struct lw_listener **at = &loop->listeners;
    while (*at) {
        struct lw_listener *one = *at;
        bool is_it = one->is_adopted && one->listener == listener && one->slot == slot;
        if (is_it) {
            *at = one->next;
            stop(one);
        } else {
            at = &one->next;
        }
    }
}

void lw_listen_stop_all(struct lw_loop *loop)
{
    while (loop->listeners) {
        struct lw_listener *listener = loop->listeners;
        loop->listeners = listener->next;
        if (loop->is_draining) /* what the system has accepted for us is ours to answer */
            accept_waiting(listener, SOMAXCONN);
        stop(listener);
    }
}
