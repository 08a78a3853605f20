/* SPDX-License-Identifier: MIT
 *
 * Three answers (RFC 9110 §15.3.1, §15.5.6, §15.6.4). */
#include "net/ready.h"

#include "base/limits.h"
#include "net/request.h"

static void add_field(struct lw_request *request, struct luaweb_slice name,
                      struct luaweb_slice value)
{
    lw_request_field(request, name, value, LW_MAX_RESPONSE_HEAD);
}

void lw_ready_answer(struct lw_request *request)
{
    struct luaweb_slice method = request->facts.method;
    bool is_read = lw_slice_equal(method, LW_SLICE("GET"))
                   || lw_slice_equal(method, LW_SLICE("HEAD"));
    struct lw_response response = {.status = 200,
                                   .type = LW_SLICE("text/plain; charset=utf-8")};
    struct luaweb_slice text = LW_SLICE("ready\n");
    request->is_unlogged = true;
    add_field(request, LW_SLICE("Cache-Control"), LW_SLICE("no-store"));
    if (!is_read) {
        response.status = 405;
        text = LW_SLICE("405 Method Not Allowed: this is only read\n");
        add_field(request, LW_SLICE("Allow"), LW_SLICE("GET, HEAD"));
    } else if (request->loop->is_draining) {
        response.status = 503;
        text = LW_SLICE("draining\n");
        add_field(request, LW_SLICE("Retry-After"), LW_SLICE(LW_RETRY_AFTER));
    }
    request->ops->reply(request, &response, text);
}
