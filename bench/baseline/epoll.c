/* SPDX-License-Identifier: MIT
 *
 * The floor of the kernel: one thread on epoll that answers every blank line with the
 * same octets, parsing nothing, with one send for all answers of a read.  What rawuv
 * costs beyond this is libuv.  usage: rawepoll PORT */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "floor.h"

#define EVENTS 512

struct client {
    int fd;
    unsigned matched; /* octets of CR LF CR LF seen */
    size_t owed;     /* octets of answers still to be sent; a part of one comes first */
    bool is_waiting; /* for room to send, so it reads nothing */
};

static char room[FLOOR_ROOM];

static void watch(int loop, int change, struct client *client, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = client};
    epoll_ctl(loop, change, client->fd, &event);
}

static void drop(struct client *client)
{
    close(client->fd);
    free(client);
}

/* false: the connection is lost. */
static bool send_owed(int loop, struct client *client)
{
    while (client->owed > 0) {
        size_t done = (FLOOR_SIZE - client->owed % FLOOR_SIZE) % FLOOR_SIZE;
        size_t most = sizeof floor_answers - done;
        size_t size = client->owed < most ? client->owed : most;
        ssize_t sent = send(client->fd, floor_answers + done, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN)
            break;
        if (sent < 0)
            return false;
        client->owed -= (size_t)sent;
    }
    if (client->is_waiting != (client->owed > 0)) {
        client->is_waiting = client->owed > 0;
        watch(loop, EPOLL_CTL_MOD, client, client->is_waiting ? EPOLLOUT : EPOLLIN);
    }
    return true;
}

/* false: the connection has ended. */
static bool turn(int loop, struct client *client)
{
    if (!client->is_waiting) {
        ssize_t size = recv(client->fd, room, sizeof room, 0);
        if (size < 0 && errno == EAGAIN)
            return true;
        if (size <= 0)
            return false;
        client->owed += FLOOR_SIZE * floor_count(&client->matched, room, (size_t)size);
    }
    return send_owed(loop, client);
}

static void take_clients(int loop, int listener)
{
    static const int on = 1;
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct client *client = calloc(1, sizeof *client);
        if (!client)
            abort();
        client->fd = fd;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(loop, EPOLL_CTL_ADD, client, EPOLLIN);
    }
}

/* A listening socket, or -1. */
static int listen_at(int port)
{
    static const int on = 1;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
        return -1;
    return listen(fd, 511) == 0 ? fd : -1;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: rawepoll PORT\n");
        return 2;
    }
    floor_prepare();
    struct client listener = {.fd = listen_at(atoi(argv[1]))};
    int loop = epoll_create1(EPOLL_CLOEXEC);
    if (listener.fd < 0 || loop < 0) {
        perror("rawepoll");
        return 1;
    }
    watch(loop, EPOLL_CTL_ADD, &listener, EPOLLIN);
    for (;;) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(loop, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            struct client *client = events[i].data.ptr;
            if (client == &listener)
                take_clients(loop, listener.fd);
            else if (!turn(loop, client))
                drop(client);
        }
    }
}
