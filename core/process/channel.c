/* SPDX-License-Identifier: MIT
 *
 * Messages between master and worker. */
#include "process/channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/passing.h"

int lw_channel_open(int ends[2])
{
    return lw_passing_open(ends);
}

bool lw_channel_is(int fd)
{
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0
           && type == SOCK_SEQPACKET;
}

int lw_channel_send(int end, const struct lw_message *message, const char *text,
                    size_t size, int fd)
{
    const struct iovec parts[2] = {
        {(void *)message, sizeof *message                                },
        {(void *)text,    size < LW_MESSAGE_TEXT ? size : LW_MESSAGE_TEXT},
    };
    return lw_passing_send(end, parts, 2, fd);
}

int lw_channel_receive(int end, struct lw_message *message, char *text, int *fd)
{
    struct iovec parts[2] = {
        {message, sizeof *message},
        {text,    LW_MESSAGE_TEXT},
    };
    ssize_t n = lw_passing_receive(end, parts, 2, fd);
    if (n <= 0)
        return n == -ECONNRESET ? 0 : (int)n;
    if ((size_t)n < sizeof *message) {
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        return -EPROTO;
    }
    text[(size_t)n - sizeof *message] = 0;
    return 1;
}
