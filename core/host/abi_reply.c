/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions by which Lua answers a request (base/abi.h): for the
 * rules, see abi.c. */
#include "base/abi.h"
#include "base/limits.h"
#include "base/slice.h"
#include "host/vm.h"
#include "http/reply.h"
#include "net/answer.h"
#include "net/request.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int luaweb_header(struct luaweb_host *host, struct luaweb_request *facts,
                         uint32_t generation, const char *name, size_t name_size,
                         const char *value, size_t value_size)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    if (!request)
        return LUAWEB_REPLY_GONE;
    return lw_request_field(request, lw_slice(name, name_size),
                            lw_slice(value, value_size), LW_MAX_RESPONSE_HEAD);
}

EXPORT void luaweb_header_reset(struct luaweb_host *host, struct luaweb_request *facts,
                                uint32_t generation)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    if (!request || request->is_started)
        return;
    lw_request_field_reset(request);
    request->walk.facts &= (uint16_t)~LW_FACT_REPLYING;
    request->is_parted = false;
}

/* NULL, or octets that may stand in a header. */
static bool is_type(const char *type, size_t size)
{
    return !type
           || lw_reply_judge(LW_SLICE("Content-Type"), lw_slice(type, size))
                  == LW_REPLY_FIELD_TYPE;
}

/* What Lua gives for a response: checked, and made ready to be sent. */
static int compose(struct lw_request *request, const struct lw_content_of_lua *content,
                   struct lw_response *response)
{
    int status = content->status;
    if (request->is_started)
        return LUAWEB_REPLY_STARTED;
    if ((status && (status < 200 || status > 599))
        || !is_type(content->type.data, content->type.size))
        return LUAWEB_REPLY_BAD_VALUE;
    if (!request->conn) {
        response->status = status;
        return LUAWEB_REPLY_OK; /* the protocol says that the client is gone */
    }
    return lw_answer_with(request, content, response);
}

EXPORT int luaweb_reply(struct luaweb_host *host, struct luaweb_request *facts,
                        uint32_t generation, int status, const char *type,
                        size_t type_size, const char *body, size_t body_size)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    if (!request)
        return LUAWEB_REPLY_GONE;
    const struct lw_content_of_lua content = {
        status, {type, type_size},
         (double)body_size
    };
    struct lw_response response;
    int result = compose(request, &content, &response);
    if (result != LUAWEB_REPLY_OK)
        return result;
    return request->ops->reply(request, &response, lw_slice(body, body_size));
}

EXPORT int luaweb_start(struct luaweb_host *host, struct luaweb_request *facts,
                        uint32_t generation, int status, const char *type,
                        size_t type_size, double length)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    if (!request)
        return LUAWEB_REPLY_GONE;
    const struct lw_content_of_lua content = {
        status, {type, type_size},
         length
    };
    struct lw_response response;
    int result = compose(request, &content, &response);
    if (result != LUAWEB_REPLY_OK)
        return result;
    return request->ops->start(request, &response);
}

EXPORT double luaweb_write(struct luaweb_host *host, struct luaweb_request *facts,
                           uint32_t generation, const char *data, size_t size)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    if (!request)
        return LUAWEB_REPLY_GONE;
    if (size == 0)
        return 0; /* there is nothing to wait for either */
    return (double)request->ops->write(request, lw_slice(data, size));
}

EXPORT int luaweb_room(struct luaweb_host *host, struct luaweb_request *facts,
                       uint32_t generation)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    return request ? request->ops->room(request) : LUAWEB_REPLY_GONE;
}

EXPORT int luaweb_finish(struct luaweb_host *host, struct luaweb_request *facts,
                         uint32_t generation)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    return request ? request->ops->finish(request) : LUAWEB_REPLY_GONE;
}

EXPORT void luaweb_abort(struct luaweb_host *host, struct luaweb_request *facts,
                         uint32_t generation)
{
    (void)host;
    struct lw_request *request = lw_request_of(facts, generation);
    if (request)
        lw_answer_failure(request);
}
