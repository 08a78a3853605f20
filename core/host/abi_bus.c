/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions for what workers do together (base/abi_bus.h): for the
 * rules, see abi.c. */
#include "base/abi_bus.h"

#include <math.h>

#include "base/slice.h"
#include "host/vm.h"
#include "share/interest.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT bool luaweb_bus_publish(struct luaweb_host *host, const char *topic,
                               size_t topic_size, const char *text, size_t size)
{
    struct lw_together *together = &host->together;
    bool others = lw_together_has_others(together);
    if (!lw_interest_is_shown(topic, topic_size, others))
        return true;
    const struct lw_ring_text entry = {together->sender, topic, topic_size, text, size};
    if (!lw_together_open(together) || !lw_ring_write(together->ring, &entry))
        return false;
    lw_interest_wake(topic, topic_size, others);
    return true;
}

EXPORT void luaweb_bus_want(struct luaweb_host *host, const char *topic, size_t size,
                            bool is_wanted)
{
    struct lw_together *together = &host->together;
    if (!together->wants)
        together->wants = lw_wants_new();
    if (is_wanted)
        lw_wants_add(together->wants, topic, size);
    else
        lw_wants_drop(together->wants, topic, size);
}

EXPORT uint32_t luaweb_bus_id(struct luaweb_host *host)
{
    return lw_together_read(&host->together, host->loop, &host->owner);
}

EXPORT int luaweb_bus_next(struct luaweb_host *host, struct luaweb_slice *topic,
                           struct luaweb_slice *text)
{
    struct lw_together *together = &host->together;
    struct lw_ring_text entry;
    enum lw_ring_result result;
    if (together->id == LW_NO_ID)
        return LUAWEB_BUS_NONE;
    do
        result = lw_ring_read(together->ring, &together->at, &together->room, &entry);
    while (result == LW_RING_TEXT && entry.sender == together->sender);
    if (result == LW_RING_NONE)
        return LUAWEB_BUS_NONE;
    if (result == LW_RING_LOST)
        return LUAWEB_BUS_LOST;
    *topic = lw_slice(entry.topic, entry.topic_size);
    *text = lw_slice(entry.text, entry.size);
    return LUAWEB_BUS_TEXT;
}

EXPORT int luaweb_duty(struct luaweb_host *host, const char *name, size_t size)
{
    (void)host;
    return lw_once_duty(name, size);
}

static bool is_duty(int duty)
{
    return duty >= 0 && duty < LW_ONCE_DUTIES;
}

EXPORT bool luaweb_duty_take(struct luaweb_host *host, int duty)
{
    if (!is_duty(duty))
        return false;
    bool *has = &host->together.has_duty[duty];
    *has = *has || lw_once_take(duty);
    return *has;
}

EXPORT void luaweb_duty_give(struct luaweb_host *host, int duty)
{
    if (!is_duty(duty) || !host->together.has_duty[duty])
        return;
    host->together.has_duty[duty] = false;
    lw_once_give(duty);
}

EXPORT double luaweb_duty_since(struct luaweb_host *host, int duty)
{
    (void)host;
    uint64_t last_ns = is_duty(duty) ? lw_once_last(duty) : 0;
    return last_ns ? (double)(uv_hrtime() - last_ns) / 1e9 : INFINITY;
}

EXPORT void luaweb_duty_note(struct luaweb_host *host, int duty)
{
    (void)host;
    if (is_duty(duty))
        lw_once_note(duty, uv_hrtime());
}
