/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions that Lua may call (base/abi.h).  They check what Lua
 * gives, then hand on; none enters Lua, blocks, or keeps a pointer that it was
 * given. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi_app.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/require.h"
#include "base/slice.h"
#include "host/vm.h"
#include "http/fields.h"
#include "http/media_type.h"
#include "http/percent.h"
#include "http/query.h"
#include "machine/app.h"
#include "net/listen.h"
#include "net/request.h"
#include "net/socket.h"
#include "net/timer.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT void luaweb_sizes(struct luaweb_host *host, struct luaweb_sizes *sizes)
{
    (void)host;
    *sizes = (struct luaweb_sizes){
        sizeof(struct luaweb_slice),  sizeof(struct luaweb_field),
        sizeof(struct luaweb_fields), sizeof(struct luaweb_param),
        sizeof(struct luaweb_params), sizeof(struct luaweb_request),
        sizeof(struct luaweb_event),  sizeof(struct luaweb_row),
    };
}

/* A request whose client has left, or that was answered, before its handler began. */
static bool drop_if_over(const struct luaweb_event *event)
{
    if (event->kind != LUAWEB_EVENT_REQUEST)
        return false;
    struct lw_request *request = (struct lw_request *)event->request;
    if (request->facts.generation != event->generation)
        return true;
    if (request->conn)
        return false;
    lw_request_log(request);
    lw_request_end(request);
    return true;
}

EXPORT void luaweb_next(struct luaweb_host *host, struct luaweb_event *event)
{
    while (host->event_count > 0 && host->budget > 0) {
        *event = host->events[host->event_first];
        host->event_first = (host->event_first + 1) & (host->event_capacity - 1);
        host->event_count--;
        host->budget--;
        lw_watchdog_count();
        if (event->kind == LUAWEB_EVENT_WAKE)
            lw_timer_woke(host->loop, event->id);
        if (!drop_if_over(event))
            return;
    }
    event->kind = LUAWEB_EVENT_NONE;
}

EXPORT uint32_t luaweb_timer_start(struct luaweb_host *host, double seconds)
{
    return lw_timer_start(host->loop, &host->owner, seconds);
}

EXPORT void luaweb_timer_stop(struct luaweb_host *host, uint32_t id)
{
    lw_timer_stop(host->loop, id);
}

EXPORT double luaweb_now(struct luaweb_host *host)
{
    (void)host;
    return (double)uv_hrtime() / 1e9;
}

EXPORT void luaweb_log(struct luaweb_host *host, int level, const char *text,
                       size_t size)
{
    (void)host;
    if (level >= LW_LOG_DEBUG && level <= LW_LOG_ERROR)
        lw_log_text((enum lw_level)level, text, size);
}

EXPORT void luaweb_exit_on_signal(struct luaweb_host *host, int code)
{
    host->calls->exit_on_signal(host->calls->context, code);
}

EXPORT void luaweb_loaded(struct luaweb_host *host, struct luaweb_app *app,
                          uint32_t workers, const char *routes, size_t size)
{
    host->calls->loaded(host->calls->context, host, app, workers, routes, size);
}

EXPORT void luaweb_exit(struct luaweb_host *host, int code, const char *text,
                        size_t size)
{
    host->calls->ended(host->calls->context, host, code, text, size);
}

EXPORT struct luaweb_app *luaweb_app_new(struct luaweb_host *host)
{
    return lw_host_add_app(host);
}

EXPORT int luaweb_listen(struct luaweb_host *host, struct luaweb_app *app,
                         const char *address, int port)
{
    return lw_listen(host->loop, lw_host_site(app), address, port);
}

EXPORT const char *luaweb_error(struct luaweb_host *host, int code)
{
    (void)host;
    return uv_strerror(code);
}

EXPORT void luaweb_request_id(struct luaweb_host *host,
                              const struct luaweb_request *request, char id[LW_ID_SIZE])
{
    (void)host;
    lw_request_id((const struct lw_request *)request, id);
}

EXPORT struct luaweb_slice luaweb_template(struct luaweb_host *host,
                                           struct luaweb_request *facts,
                                           uint32_t generation)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    return request ? request->resource : (struct luaweb_slice){NULL, 0};
}

EXPORT bool luaweb_is_gone(struct luaweb_host *host, struct luaweb_request *facts,
                           uint32_t generation)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    return !request || !request->conn || request->knows_gone;
}

EXPORT uint32_t luaweb_header_find(struct luaweb_host *host,
                                   struct luaweb_request *facts, bool is_trailer,
                                   const char *name, size_t size,
                                   struct luaweb_slice *value)
{
    (void)host;
    const struct luaweb_fields *fields =
        is_trailer ? &facts->trailers : &facts->headers;
    uint32_t count = 0;
    for (uint32_t i = 0; i < fields->count; i++) {
        if (!lw_slice_equal_nocase(fields->list[i].name, lw_slice(name, size)))
            continue;
        if (count++ == 0)
            *value = fields->list[i].value;
    }
    return count;
}

EXPORT bool luaweb_query(struct luaweb_host *host, struct luaweb_request *facts,
                         uint32_t generation, struct luaweb_fields *fields)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    if (request)
        *fields = lw_request_query(request);
    return request != NULL;
}

EXPORT bool luaweb_cookies(struct luaweb_host *host, struct luaweb_request *facts,
                           uint32_t generation, struct luaweb_fields *fields)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    if (request)
        *fields = lw_request_cookies(request);
    return request != NULL;
}

EXPORT bool luaweb_form(struct luaweb_host *host, struct luaweb_slice *rest,
                        struct luaweb_field *pair)
{
    struct luaweb_field raw;
    if (!lw_query_next(rest, &raw))
        return false;
    char *out = lw_host_scratch(host, raw.name.size + raw.value.size);
    size_t size = lw_percent_decode_form(raw.name, out);
    pair->name = lw_slice(out, size);
    pair->value = lw_slice(out + size, lw_percent_decode_form(raw.value, out + size));
    return true;
}

static void lower(char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        text[i] = lw_lower(text[i]);
}

EXPORT bool luaweb_media_type(struct luaweb_host *host, const char *text, size_t size,
                              struct luaweb_slice *type, struct luaweb_slice *charset,
                              struct luaweb_slice *boundary)
{
    struct lw_media_type media;
    if (!lw_media_type_parse(lw_slice(text, size), &media))
        return false;
    char *at = lw_host_scratch(host, size + 1);
    memcpy(at, media.name.data, media.name.size);
    lower(at, media.name.size);
    *type = lw_slice(at, media.name.size);
    at += media.name.size;
    *charset = *boundary = lw_slice(at, 0);
    struct luaweb_field parameter;
    while (lw_media_type_next(&media.parameters, &parameter)) {
        struct luaweb_slice *to = NULL;
        if (lw_slice_equal_nocase(parameter.name, LW_SLICE("charset")))
            to = charset;
        else if (lw_slice_equal_nocase(parameter.name, LW_SLICE("boundary")))
            to = boundary;
        if (!to || to->size > 0)
            continue;
        *to = lw_slice(at, lw_media_type_unquote(parameter.value, at));
        at += to->size;
    }
    return true;
}

EXPORT int luaweb_body(struct luaweb_host *host, struct luaweb_request *facts,
                       uint32_t generation, struct luaweb_slice *piece)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    if (!request)
        return LUAWEB_BODY_GONE;
    if (!(request->walk.facts & LW_FACT_READS))
        return LUAWEB_BODY_EARLY;
    return request->ops->body(request, piece);
}

EXPORT void luaweb_body_limit(struct luaweb_host *host, struct luaweb_request *facts,
                              uint32_t generation, double limit)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    if (request)
        request->ops->body_limit(request, lw_limit_of(limit));
}

EXPORT int luaweb_socket_memory(struct luaweb_host *host, struct luaweb_app *app)
{
    return lw_socket_memory(host->loop, &host->owner, lw_host_site(app));
}

EXPORT int luaweb_socket_connect(struct luaweb_host *host, const char *address,
                                 int port)
{
    return lw_socket_connect(host->loop, &host->owner, address, port, LW_NO_ID);
}

EXPORT double luaweb_socket_send(struct luaweb_host *host, uint32_t id,
                                 const char *data, size_t size)
{
    return (double)lw_socket_send(host->loop, id, data, size);
}

EXPORT double luaweb_socket_receive(struct luaweb_host *host, uint32_t id, char *data,
                                    size_t size)
{
    return (double)lw_socket_receive(host->loop, id, data, size);
}

EXPORT void luaweb_socket_finish(struct luaweb_host *host, uint32_t id)
{
    lw_socket_finish(host->loop, id);
}

EXPORT void luaweb_socket_close(struct luaweb_host *host, uint32_t id)
{
    lw_socket_close(host->loop, id, false);
}

EXPORT void luaweb_socket_reset(struct luaweb_host *host, uint32_t id)
{
    lw_socket_close(host->loop, id, true);
}
