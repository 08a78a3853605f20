/* SPDX-License-Identifier: MIT
 *
 * What a worker does for its master. */
#include "process/orders.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "net/handover.h"
#include "net/listen.h"
#include "process/worker.h"
#include "share/board.h"
#include "share/interest.h"

#define SHARED_ACCEPTS 4 /* in a turn, from a socket that all workers accept from */

/* One that the master does not read goes lost: it is busy ending, or lost itself. */
static void tell(struct lw_worker *worker, const struct lw_message *message,
                 const char *text, size_t size)
{
    if (!lw_worker_has_master(worker))
        return;
    int error = lw_channel_send(worker->channel, message, text, size, -1);
    if (error && error != -EPIPE && error != -ECONNRESET)
        lw_log(LW_LOG_ERROR, "the master can't be told: %s", strerror(-error));
}

void lw_orders_tell(struct lw_worker *worker, enum lw_message_kind kind,
                    uint32_t generation)
{
    const struct lw_message message = {.kind = kind, .generation = generation};
    tell(worker, &message, "", 0);
}

void lw_orders_tell_loaded(struct lw_worker *worker, uint32_t generation,
                           uint32_t workers, const char *routes, size_t size)
{
    const struct lw_message message = {
        .kind = LW_MESSAGE_LOADED, .generation = generation, .workers = workers};
    tell(worker, &message, routes, size);
}

void lw_orders_tell_failure(struct lw_worker *worker, uint32_t generation, int code,
                            const char *why, size_t size)
{
    const struct lw_message message = {
        .kind = LW_MESSAGE_FAILED, .generation = generation, .code = code};
    tell(worker, &message, why, size);
}

void lw_orders_wish_reload(struct lw_worker *worker, const char *why, size_t size)
{
    const struct lw_message message = {.kind = LW_MESSAGE_RELOAD};
    tell(worker, &message, why, size);
}

static void accept_from(struct lw_worker *worker, const struct lw_message *order,
                        int fd)
{
    struct lw_adopted adopted = {
        .fd = fd,
        .listener = order->listener,
        .slot = order->slot,
        .most = order->slot == LW_SHARED_SLOT ? SHARED_ACCEPTS : 0,
    };
    int error = lw_listen_adopt(&worker->loop, &worker->site, &adopted);
    if (error)
        lw_log(LW_LOG_ERROR, "a listener can't be used: %s", uv_strerror(error));
}

/* The eventfd of a slot: by its own a worker is woken. */
static void add_peer(struct lw_worker *worker, const struct lw_message *order, int fd)
{
    if (order->slot == lw_board_slot())
        lw_worker_be_woken_by(worker, fd);
    lw_interest_peer(order->slot, fd);
}

/* An order that comes with a descriptor, which the system drops where this process has
 * as many as it may. */
static bool lacks_descriptor(const struct lw_message *order, int fd)
{
    return fd < 0
           && (order->kind == LW_MESSAGE_ACCEPT || order->kind == LW_MESSAGE_PEER
               || order->kind == LW_MESSAGE_GIVE);
}

static void follow(struct lw_worker *worker, const struct lw_message *order, int fd)
{
    if (lacks_descriptor(order, fd)) {
        lw_log(LW_LOG_ERROR, "no descriptor is left for a socket of the master's");
        return;
    }
    switch (order->kind) {
    case LW_MESSAGE_ACCEPT: accept_from(worker, order, fd); return;
    case LW_MESSAGE_PEER: add_peer(worker, order, fd); return;
    case LW_MESSAGE_GIVE: lw_handover_add(&worker->loop, order->slot, fd); return;
    case LW_MESSAGE_CEASE:
        lw_listen_cease(&worker->loop, order->listener, order->slot);
        break;
    case LW_MESSAGE_LOAD: lw_worker_load(worker, order->generation); break;
    case LW_MESSAGE_SWITCH: lw_worker_switch(worker, order->generation); break;
    case LW_MESSAGE_DISCARD: lw_worker_discard(worker, order->generation); break;
    case LW_MESSAGE_DRAIN:
        lw_worker_drain(worker, order->grace_ms, order->deadline_ms);
        break;
    case LW_MESSAGE_REOPEN: lw_worker_reopen(worker); break;
    case LW_MESSAGE_QUIT: lw_loop_exit(&worker->loop, order->code); break;
    default: break; /* of a newer master */
    }
    if (fd >= 0)
        close(fd);
}

static void on_master_gone(struct lw_worker *worker)
{
    uv_poll_stop(&worker->orders);
    if (worker->loop.is_draining)
        return;
    lw_log(LW_LOG_WARN, "the master is gone: this worker drains and ends");
    lw_worker_drain(worker, LW_DRAIN_GRACE_MS, worker->loop.limits.drain_timeout);
}

static void on_orders(uv_poll_t *poll, int status, int events)
{
    struct lw_worker *worker = poll->data;
    static char text[LW_MESSAGE_TEXT + 1];
    struct lw_message order;
    int fd;
    int result = 0;
    (void)events;
    if (status == 0)
        while ((result = lw_channel_receive(worker->channel, &order, text, &fd)) == 1)
            follow(worker, &order, fd);
    worker->loop.has_work = true;
    if (result != -EAGAIN)
        on_master_gone(worker);
}

void lw_orders_watch(struct lw_worker *worker)
{
    if (!lw_worker_has_master(worker))
        return;
    uv_poll_init(&worker->loop.uv, &worker->orders, worker->channel);
    worker->orders.data = worker;
    uv_poll_start(&worker->orders, UV_READABLE, on_orders);
}
