/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions by which Lua answers what a walk asks (base/abi_walk.h):
 * for the rules, see abi.c. */
#include <assert.h>
#include <string.h>

#include "base/abi_walk.h"
#include "base/limits.h"
#include "base/slice.h"
#include "host/vm.h"
#include "http/etag.h"
#include "http/range.h"
#include "machine/answers.h"
#include "machine/app.h"
#include "net/answer.h"
#include "net/conn.h"
#include "net/parts.h"

#define EXPORT __attribute__((visibility("default")))

static_assert(LW_RANGES_MAX == 16, "luaweb_parts has room for all");

/* The request behind a handle, or NULL when it has ended or has no walk. */
static struct lw_request *find(struct luaweb_request *facts, uint32_t generation)
{
    struct lw_request *request = lw_request_of(facts, generation);
    return request && request->walk.machine ? request : NULL;
}

/* Likewise, or NULL when its walk can't go on: the head of its response was sent. */
static struct lw_request *find_walking(struct luaweb_request *facts,
                                       uint32_t generation)
{
    struct lw_request *request = find(facts, generation);
    return request && !request->is_started ? request : NULL;
}

/* A request that turns out to match no resource: its walk begins anew, and nothing that
 * was found with the other machine holds. */
static void turn_away(struct lw_request *request)
{
    const struct luaweb_app *app = request->app;
    struct lw_walk *walk = &request->walk;
    memset(walk->accepted, 0, sizeof walk->accepted);
    walk->content.limit = request->loop->limits.max_body;
    lw_walk_begin(walk, app->unmatched,
                  lw_app_method(app, app->unmatched, request->facts.method));
}

/* A gate that has failed lets nobody in: its status ends the walk. */
static void pass_gate(struct lw_request *request, int answer)
{
    struct lw_walk *walk = &request->walk;
    walk->is_gate = false;
    if (answer == LUAWEB_ANSWER_NO) {
        turn_away(request);
    } else if (answer >= 200) {
        walk->status = (uint16_t)answer;
        walk->at = LW_TERMINAL;
    }
}

/* On with the walk, unless Lua has content at hand that it will come back with. */
static uint32_t go_on(struct lw_request *request)
{
    if (request->walk.facts & LW_FACT_REPLYING)
        return lw_walk_run(&request->walk);
    return lw_answer_walk(request);
}

EXPORT int32_t luaweb_answer(struct luaweb_host *host, struct luaweb_request *facts,
                             uint32_t generation, int answer)
{
    (void)host;
    struct lw_request *request = find_walking(facts, generation);
    if (!request)
        return facts->generation == generation ? LUAWEB_FUNCTION_LATE
                                               : LUAWEB_FUNCTION_NONE;
    struct lw_walk *walk = &request->walk;
    if (!request->conn) {
        lw_request_log(request);
        lw_request_end(request);
        return LUAWEB_FUNCTION_NONE;
    }
    if (answer >= 200) /* content that Lua had is given up */
        walk->facts &= (uint16_t)~LW_FACT_REPLYING;
    if (walk->is_gate) {
        pass_gate(request, answer);
    } else if (walk->at & LW_TERMINAL) {
        walk->facts |= LW_FACT_HANDLED;
        if (answer >= 200) /* else what speaks there has nothing to say */
            walk->status = (uint16_t)answer;
    } else {
        lw_walk_answer(walk, answer);
    }
    return (int32_t)go_on(request);
}

#define BIT(property) (1U << (property))

/* Those in which a line feed stands between items; elsewhere it would end the field. */
#define LISTS                                                                      \
    (BIT(LUAWEB_AVAILABLE_MEDIA_TYPES) | BIT(LUAWEB_AVAILABLE_LANGUAGES)           \
     | BIT(LUAWEB_AVAILABLE_CHARSETS) | BIT(LUAWEB_AVAILABLE_CONTENT_CODINGS)      \
     | BIT(LUAWEB_ACCEPTABLE_MEDIA_TYPES) | BIT(LUAWEB_ACCEPTABLE_CONTENT_CODINGS) \
     | BIT(LUAWEB_PATCH_MEDIA_TYPES) | BIT(LUAWEB_STRICT) | BIT(LUAWEB_HOSTS)      \
     | BIT(LUAWEB_VARY) | BIT(LUAWEB_CHALLENGE) | BIT(LUAWEB_CORS_ORIGINS)         \
     | BIT(LUAWEB_CORS_METHODS) | BIT(LUAWEB_CORS_HEADERS) | BIT(LUAWEB_CORS_EXPOSE))

/* Whether this may stand in fields, item by item. */
static bool is_value(uint32_t property, struct luaweb_slice text)
{
    bool is_list = LISTS & BIT(property);
    for (size_t i = 0; i < text.size; i++) {
        unsigned char octet = (unsigned char)text.data[i];
        bool is_allowed = octet == '\t' || (is_list && octet == '\n');
        if ((octet < 0x20 && !is_allowed) || octet == 0x7f)
            return false;
    }
    return true;
}

/* Whether the property that was asked may be this text. */
static bool is_fit(const struct lw_walk *walk, struct luaweb_slice text)
{
    uint32_t property = walk->asked - 1U;
    if (text.size > LW_MAX_RESPONSE_HEAD || !is_value(property, text))
        return false;
    return property != LUAWEB_ENTITY_TAG || lw_etag_valid(text);
}

/* What was modified while the walk has waited was not so in its future. */
static void renew_now(struct lw_request *request)
{
    lw_loop_date(request->loop);
    request->walk.now = request->loop->date_second;
}

EXPORT int luaweb_give(struct luaweb_host *host, struct luaweb_request *facts,
                       uint32_t generation, const char *text, size_t size,
                       double number, uint32_t *next)
{
    (void)host;
    struct lw_request *request = find_walking(facts, generation);
    *next = LUAWEB_FUNCTION_NONE;
    if (!request)
        return LUAWEB_REPLY_GONE;
    if (!request->conn) {
        lw_request_log(request);
        lw_request_end(request);
        return LUAWEB_REPLY_GONE;
    }
    if (request->walk.asked == 0)
        return LUAWEB_REPLY_GONE;
    if (text && !is_fit(&request->walk, lw_slice(text, size)))
        return LUAWEB_REPLY_BAD_VALUE;
    if (request->walk.asked == LUAWEB_LAST_MODIFIED + 1)
        renew_now(request);
    lw_walk_give(&request->walk, lw_slice(text, size), number);
    *next = go_on(request);
    return LUAWEB_REPLY_OK;
}

EXPORT uint32_t luaweb_pending(struct luaweb_host *host, struct luaweb_request *facts,
                               uint32_t generation)
{
    (void)host;
    struct lw_request *request = find_walking(facts, generation);
    return request ? request->walk.function : LUAWEB_FUNCTION_NONE;
}

EXPORT uint32_t luaweb_parts(struct luaweb_host *host, struct luaweb_request *facts,
                             uint32_t generation, double first[16], double last[16],
                             struct luaweb_slice heads[17])
{
    (void)host;
    struct lw_request *request = find_walking(facts, generation);
    return request ? lw_parts_choose(request, first, last, heads) : 0;
}

EXPORT bool luaweb_accepted(struct luaweb_host *host, struct luaweb_request *facts,
                            uint32_t generation, int dimension,
                            struct luaweb_slice *chosen)
{
    (void)host;
    struct lw_request *request = find(facts, generation);
    struct lw_list list;
    if (!request || dimension < 0 || dimension >= LW_DIMENSIONS)
        return false;
    struct lw_walk *walk = &request->walk;
    uint32_t function = walk->function; /* Lua still owes the answer to this one */
    uint8_t asked = walk->asked;
    int index = lw_walk_accept(walk, dimension, &list);
    walk->function = function;
    walk->asked = asked;
    walk->facts |= LW_FACT_LOOKED;
    if (index <= 0)
        return false;
    *chosen = list.items[index - 1];
    return true;
}

EXPORT int luaweb_exists(struct luaweb_host *host, struct luaweb_request *facts,
                         uint32_t generation)
{
    (void)host;
    struct lw_request *request = find(facts, generation);
    uint32_t found = request ? request->walk.facts : 0;
    if (found & LW_FACT_EXISTS)
        return 1;
    return found & LW_FACT_MISSING ? 0 : -1;
}

EXPORT bool luaweb_unmodified_since(struct luaweb_host *host,
                                    struct luaweb_request *facts, uint32_t generation,
                                    double *seconds)
{
    (void)host;
    struct lw_request *request = find(facts, generation);
    int64_t date;
    if (!request || !lw_unmodified_since(&request->walk, &date))
        return false;
    *seconds = (double)date;
    return true;
}

EXPORT const char *luaweb_asked(struct luaweb_host *host, struct luaweb_request *facts,
                                uint32_t generation)
{
    (void)host;
    struct lw_request *request = find(facts, generation);
    if (!request)
        return "";
    return request->walk.machine->graph->rows[request->walk.row].given.name;
}
