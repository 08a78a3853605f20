/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions that Lua calls while an app is developed
 * (base/abi_dev.h): for the rules, see abi.c. */
#include "base/abi_dev.h"

#include <assert.h>
#include <string.h>

#include "base/slice.h"
#include "host/look.h"
#include "host/vm.h"
#include "net/dev.h"

#define EXPORT __attribute__((visibility("default")))

/* One word has the same number on both sides. */
static_assert((int)LUAWEB_WATCH_FILE == LW_WATCH_FILE
                  && (int)LUAWEB_WATCH_SOURCES == LW_WATCH_SOURCES
                  && (int)LUAWEB_WATCH_FOLDER == LW_WATCH_FOLDER
                  && (int)LUAWEB_DEV_SEEN == LW_DEV_SEEN
                  && (int)LUAWEB_DEV_TOKEN == LW_DEV_TOKEN,
              "abi_dev.h");

/* NULL: the app is not developed. */
static struct lw_dev *dev_of(const struct luaweb_host *host)
{
    return host->loop->dev;
}

EXPORT int luaweb_dev_watch(struct luaweb_host *host, const char *path, int what)
{
    struct lw_dev *dev = dev_of(host);
    bool is_known = what >= LW_WATCH_FILE && what <= LW_WATCH_FOLDER;
    return dev && is_known ? lw_watch_add(dev->watch, path, (enum lw_watch_kind)what)
                           : 0;
}

EXPORT uint32_t luaweb_dev_failure(struct luaweb_host *host, struct luaweb_slice *why)
{
    const struct lw_dev *dev = dev_of(host);
    *why = lw_slice("", 0);
    if (dev && dev->failure)
        *why = lw_slice(dev->failure, dev->failure_size);
    return dev ? dev->news : 0;
}

EXPORT bool luaweb_dev_serves(struct luaweb_host *host)
{
    const struct lw_dev *dev = dev_of(host);
    return dev && dev->generation > 0 && !dev->is_broken;
}

EXPORT void luaweb_dev_broken(struct luaweb_host *host)
{
    struct lw_dev *dev = dev_of(host);
    if (dev)
        dev->is_next_broken = true;
}

EXPORT void luaweb_dev_token(struct luaweb_host *host, char token[32])
{
    const struct lw_dev *dev = dev_of(host);
    lw_dev_token(host->loop, dev ? dev->generation : 0, token);
}

EXPORT uint32_t luaweb_dev_seen(struct luaweb_host *host, struct luaweb_seen *list)
{
    const struct lw_dev *dev = dev_of(host);
    uint32_t count = 0;
    for (uint32_t back = 1; dev && back <= LW_DEV_SEEN; back++) {
        const struct lw_seen *seen = &dev->seen[(dev->next - back) % LW_DEV_SEEN];
        if (seen->id == 0)
            break;
        list[count++] = (struct luaweb_seen){
            .id = (double)seen->id,
            .head = lw_slice(seen->head, seen->head_size),
            .time_ms = (double)seen->time_ms,
            .duration_us = (double)seen->duration_us,
            .octets = (double)seen->octets,
            .status = seen->status,
            .is_ours = lw_look_is_own(host, &seen->trace),
        };
    }
    return count;
}

EXPORT int luaweb_dev_walk(struct luaweb_host *host, double id,
                           struct luaweb_traced *answers, uint32_t capacity,
                           struct luaweb_ending *ending)
{
    const struct lw_dev *dev = dev_of(host);
    *ending = (struct luaweb_ending){.resource = -1};
    for (uint32_t i = 0; dev && i < LW_DEV_SEEN; i++) {
        const struct lw_trace *trace = &dev->seen[i].trace;
        if ((double)dev->seen[i].id == id && lw_look_is_own(host, trace))
            return (int)lw_look_read(host, trace, answers, capacity, ending);
    }
    return -1;
}
