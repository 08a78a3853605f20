/* SPDX-License-Identifier: MIT
 *
 * Who accepts from which slot.  The system goes on spreading new connections over all
 * slots, whatever becomes of the worker of one: while it can't accept, another does. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/log.h"
#include "net/handover.h"
#include "process/master.h"
#include "share/metrics.h"

#define TICK_MS      25
#define TICK_ONE_MS  250 /* where there is nobody to accept for another */
#define HEARTBEAT_MS 70  /* with a tick more: no connection waits 100 ms */
#define WAITING_MS   45  /* likewise, with two */

static bool can_accept(const struct lw_child *child)
{
    return child && child->state == LW_CHILD_READY && !child->is_late;
}

/* Whoever has the fewest connections; NULL: nobody can. */
static struct lw_child *least_busy(struct lw_master *master)
{
    struct lw_child *best = NULL;
    uint32_t fewest = 0;
    for (uint32_t i = 0; i < master->worker_count; i++) {
        struct lw_child *child = &master->children[i];
        uint32_t count = master->board->slots[child->slot].conn_count;
        if (!can_accept(child) || (best && count >= fewest))
            continue;
        best = child;
        fewest = count;
    }
    return best;
}

/* Has a worker take what is given to the worker of a slot, or cease to. */
static void tell_given(struct lw_child *child, enum lw_message_kind kind,
                       uint32_t number)
{
    struct lw_master *master = child->master;
    struct lw_message message = {
        .kind = kind,
        .listener = LW_LISTENER_GIVEN,
        .slot = master->first_slot + number,
    };
    int fd = master->children[number].take;
    if (fd >= 0)
        lw_worker_tell(child, &message, "", kind == LW_MESSAGE_ACCEPT ? fd : -1);
}

/* Has a worker accept from the sockets of a slot, or cease to. */
static void tell(struct lw_child *child, enum lw_message_kind kind, uint32_t number)
{
    struct lw_master *master = child->master;
    for (uint32_t i = 0; i < master->place_count; i++) {
        const struct lw_place *place = &master->places[i];
        bool is_own = number == child->number;
        if (place->is_one_socket && !is_own)
            continue;
        struct lw_message message = {
            .kind = kind,
            .listener = i,
            .slot = place->is_one_socket ? LW_SHARED_SLOT : master->first_slot + number,
        };
        bool gives = kind == LW_MESSAGE_ACCEPT;
        int fd = place->fds[place->is_one_socket ? 0 : number];
        lw_worker_tell(child, &message, gives ? place->shown : "", gives ? fd : -1);
    }
    tell_given(child, kind, number);
}

void lw_cover_own(struct lw_child *child)
{
    tell(child, LW_MESSAGE_ACCEPT, child->number);
}

/* Changes who covers a slot. */
static void set_cover(struct lw_child *child, struct lw_child *cover)
{
    if (child->cover == cover)
        return;
    if (child->cover)
        tell(child->cover, LW_MESSAGE_CEASE, child->number);
    child->cover = cover;
    if (cover)
        tell(cover, LW_MESSAGE_ACCEPT, child->number);
}

void lw_cover_settle(struct lw_master *master)
{
    for (uint32_t i = 0; i < master->slot_count && master->stop_count == 0; i++) {
        struct lw_child *child = &master->children[i];
        if (can_accept(child))
            set_cover(child, NULL);
        else if (!can_accept(child->cover))
            set_cover(child, least_busy(master));
    }
}

void lw_cover_forget(struct lw_child *ended)
{
    struct lw_master *master = ended->master;
    for (uint32_t i = 0; i < master->slot_count; i++)
        if (master->children[i].cover == ended)
            master->children[i].cover = NULL;
}

/* A worker may take as long as it likes to start, unless a reload waits for it. */
static bool is_watched(const struct lw_child *child)
{
    return child->state == LW_CHILD_READY || child->state == LW_CHILD_ENDING
           || (child->state == LW_CHILD_LOADING && child->step == LW_STEP_WAITED);
}

/* Whether connections wait for a worker to accept them, or to take them from others. */
static bool are_waiting(const struct lw_child *child)
{
    const struct lw_master *master = child->master;
    int octets = 0;
    if (child->take >= 0 && ioctl(child->take, FIONREAD, &octets) == 0 && octets > 0)
        return true;
    for (uint32_t i = 0; i < master->place_count; i++) {
        const struct lw_place *place = &master->places[i];
        struct tcp_info info = {0};
        socklen_t size = sizeof info;
        if (!place->is_one_socket
            && getsockopt(place->fds[child->number], IPPROTO_TCP, TCP_INFO, &info,
                          &size)
                   == 0
            && info.tcpi_unacked > 0) /* of a listening socket: its backlog */
            return true;
    }
    return false;
}

/* A worker that was stopped, by a debugger or SIGSTOP, while it waited for octets has a
 * good heartbeat for ever.  What waits for it shows that it is no good. */
static bool rests_too_long(struct lw_child *child, uint64_t since_ms, uint64_t now)
{
    if (since_ms > 0 || !are_waiting(child))
        child->neglects_from_ms = 0;
    else if (child->neglects_from_ms == 0)
        child->neglects_from_ms = now;
    return child->neglects_from_ms > 0 && now - child->neglects_from_ms > WAITING_MS;
}

/* Looks at one heartbeat, and for a worker that ends though nobody here told it to;
 * whether that changes who can accept. */
static bool look(struct lw_child *child, uint64_t now)
{
    const struct lw_master *master = child->master;
    const struct lw_slot *slot = &master->board->slots[child->slot];
    uint64_t since_ms = lw_slot_still_ms(slot);
    bool was_late = child->is_late;
    if (is_watched(child)
        && lw_stall_look(&child->stall, slot, child->number, child->process.pid,
                         master->options->limits.stall_timeout))
        lw_metrics_add(lw_metrics_own(), LW_METRIC_STALLS, 1);
    if (child->state != LW_CHILD_READY)
        return false;
    if (slot->state == LW_SLOT_DRAINING)
        child->state = LW_CHILD_ENDING;
    child->is_late = since_ms > HEARTBEAT_MS || rests_too_long(child, since_ms, now);
    return was_late != child->is_late || child->state != LW_CHILD_READY;
}

static void on_tick(uv_timer_t *tick)
{
    struct lw_master *master = tick->data;
    uint64_t now = uv_now(&master->loop);
    bool has_changed = false;
    for (uint32_t i = 0; i < master->worker_count; i++)
        has_changed |= look(&master->children[i], now);
    if (has_changed)
        lw_cover_settle(master);
}

void lw_cover_watch(struct lw_master *master)
{
    uint64_t every_ms = master->slot_count > 1 ? TICK_MS : TICK_ONE_MS;
    master->tick.data = master;
    uv_timer_start(&master->tick, on_tick, every_ms, every_ms);
}
