/* SPDX-License-Identifier: MIT
 *
 * Who accepts from which slot.  The system goes on spreading new connections over all
 * slots, whatever becomes of the worker of one: while it can't accept, another does. */
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "net/handover.h"
#include "process/master.h"
#include "share/metrics.h"

#define TICK_MS      25
#define TICK_ONE_MS  250 /* where there is nobody to accept for another */
#define HEARTBEAT_MS 70  /* with a tick more: no connection waits 100 ms */

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* For how long its loop has not come around; 0: it waits for work. */
static uint64_t still_ms(const struct lw_child *child, uint64_t now)
{
    uint64_t began = child->master->board->slots[child->slot].turn_began_ms;
    return began > 0 && now > began ? now - began : 0;
}

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

/* Whether somebody has told it, and not the server, to end. */
static bool drains(const struct lw_child *child)
{
    return child->master->board->slots[child->slot].state == LW_SLOT_DRAINING;
}

/* Looks at one heartbeat; whether that changes who can accept. */
static bool look(struct lw_child *child, uint64_t now)
{
    const struct lw_master *master = child->master;
    uint64_t since_ms = still_ms(child, now);
    bool was_late = child->is_late;
    if (is_watched(child)
        && lw_stall_look(&child->stall, &master->board->slots[child->slot],
                         child->number, child->process.pid,
                         master->options->limits.stall_timeout))
        lw_metrics_add(lw_metrics_own(), LW_METRIC_STALLS, 1);
    if (child->state != LW_CHILD_READY)
        return false;
    child->is_late = since_ms > HEARTBEAT_MS || drains(child);
    return was_late != child->is_late;
}

static void on_tick(uv_timer_t *tick)
{
    struct lw_master *master = tick->data;
    uint64_t now = now_ms();
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
