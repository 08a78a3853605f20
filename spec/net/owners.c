/* SPDX-License-Identifier: MIT
 *
 * Two hosts on one loop, which a worker has while one Lua state serves and another one
 * drains: what belongs to the one ends without the other.  A program of its own, since
 * luaweb has one host.  Prints what it finds wrong, and `good`; spec/owners_spec.lua
 * runs it. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/loop.h"
#include "net/socket.h"
#include "net/timer.h"

struct host {
    struct lw_owner owner;
    struct lw_loop *loop;
    uint32_t wakes;
    uint32_t last; /* id that was woken */
    bool is_slow;  /* wakes stay in its queue */
};

static int faults;

static void expect(bool holds, const char *what)
{
    if (holds)
        return;
    printf("not so: %s\n", what);
    faults++;
}

static void on_wake(void *context, uint32_t id)
{
    struct host *host = context;
    host->wakes++;
    host->last = id;
    if (!host->is_slow)
        lw_timer_woke(host->loop, id);
}

/* The context is the host that is waited for. */
static bool on_turn(void *context)
{
    const struct host *host = context;
    if (host->wakes > 0)
        lw_loop_exit(host->loop, 0);
    return false;
}

static void set_up(struct host *host, struct lw_loop *loop)
{
    *host = (struct host){.loop = loop};
    host->owner = (struct lw_owner){
        .context = host,
        .wake = on_wake,
    };
}

/* Timers of both; those of the first are stopped, also one that was due before. */
static void try_timers(struct lw_loop *loop, struct host *first, struct host *second)
{
    lw_timer_start(loop, &first->owner, 0.001);
    lw_timer_start(loop, &first->owner, 3600);
    uint32_t id = lw_timer_start(loop, &second->owner, 0.02);
    expect(loop->timer_count == 3, "three timers run");
    lw_loop_close_owner(loop, &first->owner);
    expect(loop->timer_count == 1, "the second host's timer runs on");
    lw_loop_run(loop);
    expect(first->wakes == 0, "the first host is woken no more");
    expect(second->wakes == 1 && second->last == id, "the second host is woken");
    expect(loop->timer_count == 0, "no timer is left");
}

/* A timer whose wake has come, but has not reached Lua. */
static void try_late_timer(struct lw_loop *loop, struct host *first)
{
    uint32_t id = lw_timer_start(loop, &first->owner, 0);
    first->is_slow = true;
    for (int i = 0; i < 1000 && first->wakes == 0; i++) {
        uv_sleep(1);
        uv_run(&loop->uv, UV_RUN_NOWAIT);
    }
    expect(first->wakes == 1 && first->last == id, "a wake goes to its owner");
    expect(loop->timer_count == 1, "its id is taken until it has reached Lua");
    lw_loop_close_owner(loop, &first->owner);
    expect(loop->timer_count == 0, "a timer that was due is free");
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool works = bind(fd, (struct sockaddr *)&address, sizeof address) == 0
                 && listen(fd, 2) == 0;
    expect(works, "a socket listens");
    return fd;
}

/* The other end of a socket sees its end, or nothing. */
static bool has_ended(int fd)
{
    char octet;
    return recv(fd, &octet, 1, MSG_DONTWAIT) == 0;
}

static void try_sockets(struct lw_loop *loop, struct host *first, struct host *second,
                        const char *path)
{
    char name[128];
    snprintf(name, sizeof name, "unix:%s", path);
    int listener = listen_at(path);
    int ours = lw_socket_connect(loop, &first->owner, name, 0, LW_NO_ID);
    int one = accept(listener, NULL, NULL);
    int theirs = lw_socket_connect(loop, &second->owner, name, 0, LW_NO_ID);
    int other = accept(listener, NULL, NULL);
    expect(ours >= 0 && theirs >= 0 && one >= 0 && other >= 0, "both connect");
    lw_loop_close_owner(loop, &first->owner);
    uv_run(&loop->uv, UV_RUN_NOWAIT);
    expect(has_ended(one), "the first host's socket is closed");
    expect(!has_ended(other), "the second host's socket is open");
    expect(lw_socket_send(loop, (uint32_t)theirs, "x", 1) == 1, "and is written to");
    close(one);
    close(other);
    close(listener);
    unlink(path);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: owners PATH, where a unix socket may be\n", stderr);
        return 2;
    }
    alarm(30); /* where nothing wakes the loop */
    static struct lw_loop loop;
    static struct host first;
    static struct host second;
    const struct lw_limits limits = {0};
    const struct lw_loop_calls calls = {.context = &second, .turn = on_turn};
    set_up(&first, &loop);
    set_up(&second, &loop);
    expect(lw_loop_construct(&loop, &limits, &calls) == 0, "a loop");
    try_timers(&loop, &first, &second);
    try_late_timer(&loop, &first);
    try_sockets(&loop, &first, &second, argv[1]);
    lw_loop_close_owner(&loop, &second.owner);
    lw_loop_close(&loop);
    lw_loop_destruct(&loop);
    if (faults == 0)
        puts("good");
    return faults > 0;
}
