/* SPDX-License-Identifier: MIT
 *
 * Descriptors travel beside the octets, as SCM_RIGHTS (unix(7)). */
#include "net/passing.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
    struct cmsghdr header; /* aligns */
    char octets[CMSG_SPACE(sizeof(int))];
};

int lw_passing_open(int ends[2])
{
    int type = SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC;
    return socketpair(AF_UNIX, type, 0, ends) == 0 ? 0 : -errno;
}

int lw_passing_send(int end, const struct iovec *parts, size_t count, int fd)
{
    struct msghdr packet = {.msg_iov = (struct iovec *)parts, .msg_iovlen = count};
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
        n = sendmsg(end, &packet, MSG_NOSIGNAL | MSG_DONTWAIT);
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

ssize_t lw_passing_receive(int end, struct iovec *parts, size_t count, int *fd)
{
    union control control;
    struct msghdr packet = {
        .msg_iov = parts,
        .msg_iovlen = count,
        .msg_control = control.octets,
        .msg_controllen = sizeof control.octets,
    };
    ssize_t n;
    do
        n = recvmsg(end, &packet, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    *fd = n < 0 ? -1 : descriptor_of(&packet);
    return n < 0 ? -errno : n;
}
