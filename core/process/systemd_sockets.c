/* SPDX-License-Identifier: MIT
 *
 * Sockets that systemd has opened for us: from descriptor 3 on, as many as LISTEN_FDS
 * says, for the process of LISTEN_PID, with names from LISTEN_FDNAMES. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "process/systemd.h"

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

static void write_path(char out[LW_SYSTEMD_ADDRESS], const struct sockaddr_un *un,
                       socklen_t size)
{
    size_t room = size > offsetof(struct sockaddr_un, sun_path)
                      ? size - offsetof(struct sockaddr_un, sun_path)
                      : 0;
    bool is_abstract = room > 0 && un->sun_path[0] == 0;
    int length = is_abstract ? (int)room - 1 : (int)strnlen(un->sun_path, room);
    snprintf(out, LW_SYSTEMD_ADDRESS, "unix:%s%.*s", is_abstract ? "@" : "", length,
             un->sun_path + is_abstract);
}

/* false: neither TCP nor a unix socket. */
static bool write_address(char out[LW_SYSTEMD_ADDRESS], int fd)
{
    union address address;
    char host[INET6_ADDRSTRLEN] = "";
    socklen_t size = sizeof address;
    memset(&address, 0, sizeof address);
    if (getsockname(fd, &address.any, &size) != 0)
        return false;
    switch (address.any.sa_family) {
    case AF_INET:
        inet_ntop(AF_INET, &address.in.sin_addr, host, sizeof host);
        snprintf(out, LW_SYSTEMD_ADDRESS, "%s:%d", host, ntohs(address.in.sin_port));
        return true;
    case AF_INET6:
        inet_ntop(AF_INET6, &address.in6.sin6_addr, host, sizeof host);
        snprintf(out, LW_SYSTEMD_ADDRESS, "[%s]:%d", host,
                 ntohs(address.in6.sin6_port));
        return true;
    case AF_UNIX: write_path(out, &address.un, size); return true;
    default: return false;
    }
}

/* NULL: it is one; else what is wrong with it. */
static const char *fault_of(int fd)
{
    int type = 0, is_listening = 0;
    socklen_t size = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0)
        return errno == ENOTSOCK ? "is no socket" : "is not open";
    if (type != SOCK_STREAM)
        return "is no stream socket (ListenStream= makes one)";
    size = sizeof is_listening;
    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size);
    if (!is_listening)
        return "does not listen (Accept=yes makes such; it must be no)";
    return NULL;
}

static bool take_one(struct lw_systemd_socket *out, int fd)
{
    const char *fault = fault_of(fd);
    out->fd = fd;
    if (!fault && !write_address(out->address, fd))
        fault = "is neither of TCP nor a unix socket";
    if (fault) {
        fprintf(stderr, "luaweb: LISTEN_FDS: descriptor %d %s\n", fd, fault);
        return false;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    return true;
}

/* Copies the next name out of "http:https", and gives what is behind it. */
static const char *take_name(char out[LW_SYSTEMD_NAME], const char *names)
{
    size_t size = strcspn(names, ":");
    snprintf(out, LW_SYSTEMD_NAME, "%.*s", (int)size, names);
    return names[size] == ':' ? names + size + 1 : names + size;
}

/* As many as were passed to this process, and not to a parent of it. */
static long count_passed(void)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    if (!pid || !count || strtol(pid, NULL, 10) != getpid())
        return 0;
    return strtol(count, NULL, 10);
}

static int take_all(struct lw_systemd_socket out[LW_SYSTEMD_MOST], long count)
{
    const char *names = getenv("LISTEN_FDNAMES");
    if (count <= 0)
        return 0;
    if (count > LW_SYSTEMD_MOST) {
        fprintf(stderr, "luaweb: LISTEN_FDS: %ld sockets, but %d at most are taken\n",
                count, LW_SYSTEMD_MOST);
        return -1;
    }
    if (!names)
        names = "";
    for (long i = 0; i < count; i++) {
        names = take_name(out[i].name, names);
        if (!take_one(&out[i], LW_SYSTEMD_FIRST_FD + (int)i))
            return -1;
    }
    return (int)count;
}

int lw_systemd_take(struct lw_systemd_socket out[LW_SYSTEMD_MOST])
{
    int count = take_all(out, count_passed());
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return count;
}

int lw_systemd_take_over(struct lw_systemd_socket out[LW_SYSTEMD_MOST],
                         const char *words)
{
    int count = 0, fd = -1;
    while (count < LW_SYSTEMD_MOST && words
           && sscanf(words, " %*u.%*u.%*u.%d", &fd) == 1) {
        out[count].name[0] = 0;
        if (!take_one(&out[count++], fd))
            return -1;
        words = strchr(words + 1, ' ');
    }
    return count;
}
