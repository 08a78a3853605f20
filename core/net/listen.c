/* SPDX-License-Identifier: MIT
 *
 * Accepting in batches.  Without a free descriptor accepting rests until a
 * connection closes, so that the loop does not spin. */
#include "net/listen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/log.h"
#include "base/require.h"
#include "net/bind.h"
#include "net/conn.h"
#include "net/handover.h"
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
    struct lw_bound_path path; /* of a unix socket */
};

static void on_ready(uv_poll_t *poll, int status, int events);

static void on_accept_again(uv_timer_t *timer)
{
    lw_listen_resume_all(timer->data);
}

/* Somebody else may give a descriptor back: it is tried again soon, at the latest. */
static void pause_all(struct lw_loop *loop)
{
    if (lw_loop_may_say(loop, &loop->said_full_ms))
        lw_log(LW_LOG_WARN,
               "no descriptor left: accepting rests until one is given back"
               " (%u connections; see ulimit -n)",
               loop->conn_count);
    loop->is_accepting_paused = true;
    lw_tally_add(&loop->tally, LW_METRIC_ACCEPT_RESTS, 1);
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

/* The next connection that waits, or -1 and errno. */
static int next_waiting(const struct lw_listener *listener)
{
    if (listener->listener == LW_LISTENER_GIVEN && listener->is_adopted)
        return lw_handover_take(listener->fd, listener->slot);
    return accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/* Whether somebody else gets it. */
static bool is_given(const struct lw_listener *listener, int fd)
{
    return listener->is_adopted && listener->listener != LW_LISTENER_GIVEN
           && lw_handover_give(listener->loop, fd);
}

/* Accepts at most `most` connections that wait. */
static void accept_waiting(struct lw_listener *listener, int most)
{
    for (int i = 0; i < most; i++) {
        int fd = next_waiting(listener);
        if (fd >= 0) {
            if (is_given(listener, fd))
                continue;
            lw_tally_add(&listener->loop->tally, LW_METRIC_ACCEPTED, 1);
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

int lw_listen(struct lw_loop *loop, const struct lw_site *site, const char *address,
              int port)
{
    struct lw_bound bound;
    int error = lw_bind(address, port, loop->unix_mode, &bound);
    if (error)
        return error;
    int got = lw_bind_port(bound.fds[0]);
    error = got < 0 ? got : 0;
    for (uint32_t i = 0; i < bound.count; i++) {
        if (!error)
            error = add(loop, site, bound.fds[i]);
        if (error)
            close(bound.fds[i]);
    }
    if (error) {
        lw_bound_path_remove(&bound.path);
        return error;
    }
    loop->listeners->path = bound.path;
    return got;
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
    lw_bound_path_remove(&listener->path);
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
