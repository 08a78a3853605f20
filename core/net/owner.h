/* SPDX-License-Identifier: MIT
 *
 * Who is told of what happens on a loop: a host, which is one Lua state, and the site
 * that leads a connection to one. */
#ifndef LW_NET_OWNER_H
#define LW_NET_OWNER_H

#include <stdbool.h>
#include <stdint.h>

struct luaweb_app;
struct lw_request;

/* A host owns the ids that it asks for (timers, sockets, ...) and the requests that it
 * serves.  It is held until lw_loop_close_owner. */
struct lw_owner {
    void *context;
    /* A request is ready for this function. */
    void (*request)(void *context, struct lw_request *request, uint32_t function);
    /* What is waited for under this id may be tried again. */
    void (*wake)(void *context, uint32_t id);
    /* Something has happened to a request whose function was called (bits of enum
     * luaweb_gone). */
    void (*gone)(void *context, struct lw_request *request, uint32_t how);
    uint32_t request_count; /* its requests that have not ended */
    bool is_full;           /* it holds too much: its functions are not asked */
};

/* Where a connection's requests go.  A reload changes what is in it: the next request of
 * every connection goes to the new host. */
struct lw_site {
    struct luaweb_app *app;
    struct lw_owner *owner;
};

#endif
