/* SPDX-License-Identifier: MIT
 *
 * The life of a generation. */
#include "process/generation.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/require.h"
#include "net/conn.h"

struct lw_generation *lw_generation_load(struct lw_loop *loop,
                                         const struct lw_host_calls *calls,
                                         uint32_t number, int argc, char **argv)
{
    struct lw_generation *generation = lw_alloc(sizeof *generation);
    memset(generation, 0, sizeof *generation);
    generation->number = number;
    if (!lw_host_construct(&generation->host, loop, calls)) {
        free(generation);
        return NULL;
    }
    uv_timer_init(&loop->uv, &generation->late);
    generation->late.data = generation;
    if (lw_host_start(&generation->host, argc, argv))
        return generation;
    generation->state = LW_GENERATION_ENDED;
    return generation;
}

static void on_late(uv_timer_t *timer)
{
    struct lw_generation *generation = timer->data;
    struct luaweb_host *host = &generation->host;
    uint64_t patience_ms = host->loop->limits.drain_timeout;
    uint32_t count = host->owner.request_count;
    if (generation->is_late) {
        lw_log(LW_LOG_WARN, "generation %u: its end was cut short", generation->number);
        generation->state = LW_GENERATION_ENDED;
        host->loop->has_work = true;
        return;
    }
    generation->is_late = true;
    if (patience_ms > 0)
        uv_timer_start(timer, on_late, patience_ms, 0);
    lw_host_stop(host, patience_ms);
    if (count == 0)
        return;
    lw_log(LW_LOG_WARN, "generation %u: %u request%s cut", generation->number, count,
           count == 1 ? " was" : "s were");
    lw_conn_cut_owner(host->loop, &host->owner);
}

void lw_generation_retire(struct lw_generation *generation)
{
    uint64_t patience_ms = generation->host.loop->limits.drain_timeout;
    if (generation->state >= LW_GENERATION_RETIRING)
        return;
    generation->state = LW_GENERATION_RETIRING;
    if (patience_ms > 0)
        uv_timer_start(&generation->late, on_late, patience_ms, 0);
    lw_host_stopping(&generation->host);
}

void lw_generation_hurry(struct lw_generation *generation)
{
    if (!generation->is_late)
        on_late(&generation->late);
}

static void on_late_closed(uv_handle_t *handle)
{
    struct lw_generation *generation = handle->data;
    generation->is_late_closed = true;
}

void lw_generation_close(struct lw_generation *generation)
{
    if (generation->state == LW_GENERATION_CLOSED)
        return;
    generation->state = LW_GENERATION_CLOSED;
    uv_close((uv_handle_t *)&generation->late, on_late_closed);
    lw_host_close(&generation->host);
}

bool lw_generation_settle(struct lw_generation *generation)
{
    bool is_done = generation->state == LW_GENERATION_RETIRING
                   && generation->host.owner.request_count == 0;
    if (is_done && !generation->is_told) {
        generation->is_told = true;
        lw_host_stop(&generation->host, 0);
    }
    if (generation->state == LW_GENERATION_ENDED)
        lw_generation_close(generation);
    return generation->state == LW_GENERATION_CLOSED && generation->is_late_closed
           && lw_host_is_quiet(&generation->host);
}

void lw_generation_free(struct lw_generation *generation)
{
    lw_host_destruct(&generation->host);
    free(generation);
}
