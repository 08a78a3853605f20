/* SPDX-License-Identifier: MIT
 *
 * Which responses are pages that refresh themselves while an app is developed, and the
 * tag that makes them.  It loads a script of ours instead of holding one, since many
 * pages allow no other (CSP). */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/slice.h"
#include "http/fields.h"
#include "http/media_type.h"
#include "machine/field_lines.h"
#include "net/dev.h"
#include "net/loop.h"
#include "net/request.h"

#define MOST_TAIL 128 /* octets */

static bool is_html(const struct lw_request *request,
                    const struct lw_response *response)
{
    struct lw_media_type media;
    struct luaweb_slice type = request->has_type
                                   ? lw_lines_value(&request->fields, "Content-Type")
                                   : response->type;
    return type.data && lw_media_type_parse(type, &media)
           && lw_slice_equal_nocase(media.name, LW_SLICE("text/html"));
}

/* NULL: the request has no such field. */
static const struct luaweb_field *field_of(const struct lw_request *request,
                                           struct luaweb_slice name)
{
    const struct luaweb_fields *headers = &request->facts.headers;
    return lw_fields_find(headers->list, headers->count, name);
}

/* What a browser loads to show it, not what a script of a page asks for (but ours does
 * so for the page).  Others than browsers do not say. */
static bool is_shown(const struct lw_request *request)
{
    const struct luaweb_field *field = field_of(request, LW_SLICE("Sec-Fetch-Dest"));
    return !field || lw_slice_equal_nocase(field->value, LW_SLICE("document"))
           || lw_slice_equal_nocase(field->value, LW_SLICE("iframe"))
           || field_of(request, LW_SLICE("Luaweb-Refresh"));
}

/* The sources of a directive of a policy; data NULL: it has none of that name (CSP3
 * §2.2.1). */
static struct luaweb_slice directive(struct luaweb_slice policy, const char *name)
{
    size_t size = strlen(name);
    while (policy.size > 0) {
        const char *end = memchr(policy.data, ';', policy.size);
        size_t whole = end ? (size_t)(end - policy.data) : policy.size;
        struct luaweb_slice item = lw_slice_trim(lw_slice(policy.data, whole));
        if (item.size >= size && (item.size == size || item.data[size] == ' ')
            && lw_slice_equal_nocase(lw_slice(item.data, size), lw_slice(name, size)))
            return lw_slice(item.data + size, item.size - size);
        lw_slice_skip(&policy, end ? whole + 1 : whole);
    }
    return lw_slice(NULL, 0);
}

static bool has_source(struct luaweb_slice sources, const char *source)
{
    return memmem(sources.data, sources.size, source, strlen(source)) != NULL;
}

static bool allows(struct luaweb_slice policy, const char *const names[])
{
    struct luaweb_slice sources = lw_slice(NULL, 0);
    for (int i = 0; names[i] && !sources.data; i++)
        sources = directive(policy, names[i]);
    return !sources.data
           || ((has_source(sources, "'self'") || has_source(sources, " *"))
               && !has_source(sources, "'strict-dynamic'"));
}

/* A page that forbids what is needed is left as it is, but not in silence. */
static void look_at_policy(const struct lw_request *request)
{
    static const char *const scripts[] = {"script-src-elem", "script-src",
                                          "default-src", NULL};
    static const char *const connects[] = {"connect-src", "default-src", NULL};
    struct lw_dev *dev = request->loop->dev;
    struct luaweb_slice policy =
        lw_lines_value(&request->fields, "Content-Security-Policy");
    if (!policy.data || dev->has_said_policy
        || (allows(policy, scripts) && allows(policy, connects)))
        return;
    dev->has_said_policy = true;
    lw_log(
        LW_LOG_WARN,
        "%.*s does not refresh itself: its Content-Security-Policy forbids " LW_DEV_SCRIPT
        ".  While you develop, let it have script-src 'self' and connect-src 'self'",
        (int)(request->facts.path.size < 200 ? request->facts.path.size : 200),
        request->facts.path.data);
}

static uint32_t generation_of(const struct lw_request *request)
{
    const struct lw_seen *seen = (const struct lw_seen *)request->walk.trace;
    bool is_its = seen && seen->id == request->facts.id;
    return is_its ? seen->generation : request->loop->dev->generation;
}

/* Whether a response has content, and all of it. */
static bool is_whole(int status)
{
    return status != 204 && status != 205 && status != 206 && status != 304;
}

struct luaweb_slice lw_dev_tail(struct lw_request *request,
                                const struct lw_response *response)
{
    char token[LW_DEV_TOKEN];
    const struct lw_buffer *fields = &request->fields;
    if (!is_whole(response->status) || !is_html(request, response) || !is_shown(request)
        || lw_lines_has(fields, "Content-Encoding")
        || lw_lines_has(fields, "Content-Disposition"))
        return lw_slice("", 0);
    look_at_policy(request);
    lw_dev_token(request->loop, generation_of(request), token);
    char *tail = lw_arena_alloc(&request->arena, MOST_TAIL);
    int n = snprintf(
        tail, MOST_TAIL,
        "<script src=\"" LW_DEV_SCRIPT "\" data-generation=\"%s\"></script>\n", token);
    return lw_slice(tail, (size_t)n);
}
