/* SPDX-License-Identifier: MIT
 *
 * What names a request: in the logs, in req.id, and in answers. */
#include <string.h>

#include "base/slice.h"
#include "http/fields.h"
#include "http/reply.h"
#include "http/request_id.h"
#include "machine/field_lines.h"
#include "net/loop.h"
#include "net/request.h"

#define FIELD "X-Request-Id"

/* The name that came with it, or an empty slice: none, several, or none that is safe. */
static struct luaweb_slice given_id(const struct lw_request *request)
{
    const struct luaweb_fields *headers = &request->facts.headers;
    struct luaweb_slice given = lw_slice("", 0);
    for (uint32_t i = 0; i < headers->count; i++) {
        if (!lw_slice_equal_nocase(headers->list[i].name, LW_SLICE(FIELD)))
            continue;
        if (given.size > 0)
            return lw_slice("", 0);
        given = headers->list[i].value;
    }
    return lw_request_id_valid(given) ? given : lw_slice("", 0);
}

size_t lw_request_id(const struct lw_request *request, char id[LW_ID_SIZE])
{
    /* Whoever can choose names can make two requests look like one in the logs. */
    if (request->may_be_named) {
        struct luaweb_slice given = given_id(request);
        if (given.size > 0) {
            memcpy(id, given.data, given.size);
            id[given.size] = 0;
            return given.size;
        }
    }
    return lw_request_id_write(request->loop->id_prefix, request->facts.id, id);
}

bool lw_request_shows_id(const struct lw_request *request, int status)
{
    uint64_t shown = request->loop->limits.shown_ids;
    return status >= 500 ? shown != LW_IDS_IN_NONE : shown == LW_IDS_IN_ALL;
}

void lw_request_show_id(struct lw_request *request)
{
    char id[LW_ID_SIZE];
    if (lw_lines_has(&request->fields, FIELD))
        return;
    size_t size = lw_request_id(request, id);
    lw_reply_line(&request->fields, &request->loop->blocks, LW_SLICE(FIELD),
                  lw_slice(id, size));
}
