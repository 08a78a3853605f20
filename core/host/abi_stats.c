/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions that look into a worker (base/abi_stats.h): for the
 * rules, see abi.c. */
#include "base/abi_stats.h"
#include "host/vm.h"
#include "net/request.h"
#include "net/timer.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void luaweb_stats(struct luaweb_host *host, struct luaweb_stats *stats)
{
    *stats = (struct luaweb_stats){
        .longest_turn = (double)host->loop->longest_turn_ms / 1e3,
        .longest_step = (double)host->collector.longest_step_ns / 1e9,
        .collections = (double)host->collector.count,
        .timers = host->loop->timer_count,
    };
}

EXPORT int luaweb_awaited(struct luaweb_host *host, uint32_t id)
{
    const struct lw_loop *loop = host->loop;
    if (lw_loop_find_id(loop, LW_ID_TIMER, id))
        return LUAWEB_AWAITED_TIMER;
    if (lw_loop_find_id(loop, LW_ID_SOCKET, id))
        return LUAWEB_AWAITED_SOCKET;
    if (lw_loop_find_id(loop, LW_ID_HASH, id))
        return LUAWEB_AWAITED_HASH;
    const struct lw_request *request = lw_loop_find_id(loop, LW_ID_REQUEST, id);
    if (request && request->waits_for_content)
        return LUAWEB_AWAITED_CONTENT;
    if (request && request->waits_for_room)
        return LUAWEB_AWAITED_ROOM;
    return LUAWEB_AWAITED_NOTHING;
}

EXPORT double luaweb_timer_left(struct luaweb_host *host, uint32_t id)
{
    return (double)lw_timer_left_ms(host->loop, id) / 1e3;
}
