/* SPDX-License-Identifier: MIT
 *
 * Messages between master and worker. */
#include "process/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

bool lw_channel_is(int fd)
{
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0
           && type == SOCK_SEQPACKET;
}

int lw_channel_open(int ends[2])
{
    int type = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;
    return socketpair(AF_UNIX, type, 0, ends) == 0 ? 0 : -errno;
}

union control {
    struct cmsghdr header; /* aligns */
    char octets[CMSG_SPACE(sizeof(int))];
};

int lw_channel_send(int end, const struct lw_message *message, const char *text,
                    size_t size, int fd)
{
    struct iovec parts[2] = {
        {(void *)message, sizeof *message                                },
        {(void *)text,    size < LW_MESSAGE_TEXT ? size : LW_MESSAGE_TEXT},
    };
    struct msghdr packet = {.msg_iov = parts, .msg_iovlen = 2};
    union control control;
    if (fd >= 0) {
        memset(&control, 0, sizeof control);
        packet.msg_control = control.octets;
        packet.msg_controllen = sizeof control.octets;
        struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    ssize_t n;
    do
        n = sendmsg(end, &packet, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : 0;
}

static int descriptor_of(struct msghdr *packet)
{
    struct cmsghdr *header = CMSG_FIRSTHDR(packet);
    int fd = -1;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

int lw_channel_receive(int end, struct lw_message *message, char *text, int *fd)
{
    struct iovec parts[2] = {
        {message, sizeof *message},
        {text,    LW_MESSAGE_TEXT},
    };
    union control control;
    struct msghdr packet = {
        .msg_iov = parts,
        .msg_iovlen = 2,
        .msg_control = control.octets,
        .msg_controllen = sizeof control.octets,
    };
    ssize_t n;
    do
        n = recvmsg(end, &packet, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    *fd = -1;
    if (n < 0)
        return errno == ECONNRESET ? 0 : -errno;
    *fd = descriptor_of(&packet);
    if (n == 0)
        return 0;
    if ((size_t)n < sizeof *message)
        return -EPROTO;
    text[(size_t)n - sizeof *message] = 0;
    return 1;
}
