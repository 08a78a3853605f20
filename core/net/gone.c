/* SPDX-License-Identifier: MIT
 *
 * Clients that leave while their request is served. */
#include "net/gone.h"

#include "machine/machine.h"
#include "net/conn.h"
#include "net/loop.h"
#include "net/request.h"

static const struct lw_patience *patience_of(const struct lw_request *request)
{
    return &request->walk.machine->patience;
}

bool lw_gone_is_awaited(const struct lw_conn *conn, uint64_t *grace_ms)
{
    const struct lw_request *request = conn->request;
    if (!conn->is_eof && !conn->has_hung_up)
        return false;
    if (request->is_given || request->waits_for_room || request->knows_gone)
        return false;
    *grace_ms = patience_of(request)->grace_ms;
    return patience_of(request)->on_disconnect != LUAWEB_DISCONNECT_IGNORE;
}

static void tell(struct lw_request *request)
{
    struct lw_loop *loop = request->loop;
    bool cancels = patience_of(request)->on_disconnect == LUAWEB_DISCONNECT_CANCEL;
    request->knows_gone = true;
    lw_loop_gone(loop, request, LUAWEB_GONE_TELL | (cancels ? LUAWEB_GONE_CANCEL : 0));
}

void lw_gone_quietly(struct lw_conn *conn)
{
    struct lw_request *request = conn->request;
    if (patience_of(request)->on_disconnect == LUAWEB_DISCONNECT_CANCEL)
        lw_conn_drop(conn, false); /* and tells */
    else
        tell(request);
}

void lw_gone_lost(struct lw_request *request)
{
    if (request->knows_gone || !request->walk.machine)
        return;
    if (patience_of(request)->on_disconnect != LUAWEB_DISCONNECT_IGNORE)
        tell(request);
}
