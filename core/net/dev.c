/* SPDX-License-Identifier: MIT
 *
 * The ring of requests, and what there is to tell about generations. */
#include "net/dev.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "net/loop.h"
#include "net/request.h"

struct lw_dev *lw_dev_open(struct lw_loop *loop,
                           void (*changed)(void *context, const char *path),
                           void *context)
{
    struct lw_dev *dev = lw_alloc(sizeof *dev);
    memset(dev, 0, sizeof *dev);
    dev->watch = lw_watch_open(&loop->uv, changed, context);
    loop->dev = dev;
    return dev;
}

void lw_dev_close(struct lw_loop *loop)
{
    struct lw_dev *dev = loop->dev;
    if (!dev)
        return;
    loop->dev = NULL;
    lw_watch_close(dev->watch);
    for (uint32_t i = 0; i < LW_DEV_SEEN; i++)
        free(dev->seen[i].head);
    free(dev->failure);
    free(dev);
}

void lw_dev_failed(struct lw_dev *dev, const char *text, size_t size)
{
    dev->is_next_broken = false;
    if (size == 0 && !dev->failure)
        return;
    free(dev->failure);
    dev->failure = size ? lw_alloc(size) : NULL;
    if (size)
        memcpy(dev->failure, text, size);
    dev->failure_size = size;
    dev->news++;
}

void lw_dev_switched(struct lw_dev *dev, uint32_t generation)
{
    dev->generation = generation;
    dev->is_broken = dev->is_next_broken;
    lw_dev_failed(dev, NULL, 0);
}

void lw_dev_token(const struct lw_loop *loop, uint32_t generation,
                  char token[LW_DEV_TOKEN])
{
    snprintf(token, LW_DEV_TOKEN, "%s-%u", loop->id_prefix, generation);
}

bool lw_dev_is_own(const struct lw_request *request)
{
    struct luaweb_slice path = request->facts.path;
    const struct luaweb_slice own = LW_SLICE(LW_DEV_OWN);
    return path.size >= own.size && memcmp(path.data, own.data, own.size) == 0;
}

struct lw_trace *lw_dev_begin(struct lw_request *request)
{
    struct lw_dev *dev = request->loop->dev;
    if (lw_dev_is_own(request))
        return NULL;
    struct lw_seen *seen = &dev->seen[dev->next++ % LW_DEV_SEEN];
    free(seen->head);
    memset(seen, 0, sizeof *seen);
    size_t size = request->head.size;
    seen->head_size = size < LW_DEV_HEAD ? size : LW_DEV_HEAD;
    seen->head = lw_alloc(seen->head_size + 1);
    memcpy(seen->head, request->head.data, seen->head_size);
    seen->id = request->facts.id;
    seen->time_ms = lw_loop_time_ms();
    seen->generation = dev->generation;
    return &seen->trace;
}

void lw_dev_end(const struct lw_request *request)
{
    struct lw_seen *seen = (struct lw_seen *)request->walk.trace;
    if (!seen || seen->id != request->facts.id)
        return; /* others have its place by now */
    seen->status = request->status;
    seen->octets = request->sent;
    seen->duration_us = (uv_hrtime() - request->began_ns) / 1000;
}
