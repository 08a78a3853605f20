/* SPDX-License-Identifier: MIT
 *
 * A request in the server: what Lua reads of it, its memory, and the operations of the
 * protocol that it came by.  Requests are pooled and never freed, so that a stale
 * handle finds a generation that is not its own.  A request doesn't know its
 * protocol. */
#ifndef LW_NET_REQUEST_H
#define LW_NET_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi_trace.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "http/request_id.h"
#include "machine/walk.h"
#include "net/deadline.h"

struct lw_request;
struct lw_conn;
struct lw_loop;
struct lw_owner;
struct lw_site;

/* How a response begins. */
struct lw_response {
    int status;
    struct luaweb_slice type; /* data NULL: none given */
    double length;            /* < 0: not known */
};

/* What a protocol does for a request.  Results as the functions of the same name in
 * base/abi.h.  reply, finish and abort end the request. */
struct lw_request_ops {
    int (*body)(struct lw_request *request, struct luaweb_slice *piece);
    void (*body_limit)(struct lw_request *request, uint64_t limit);
    int (*reply)(struct lw_request *request, const struct lw_response *response,
                 struct luaweb_slice body);
    int (*start)(struct lw_request *request, const struct lw_response *response);
    int (*room)(struct lw_request *request);
    int64_t (*write)(struct lw_request *request, struct luaweb_slice data);
    int (*finish)(struct lw_request *request);
    void (*abort)(struct lw_request *request);
};

struct lw_request {
    struct luaweb_request facts; /* first: Lua holds its address */
    const struct lw_request_ops *ops;
    struct lw_loop *loop;
    const struct luaweb_app *app; /* that serves it; lent by its owner */
    struct lw_conn *conn;         /* NULL: the client is gone */
    struct lw_deadline deadline; /* of its handler, whether the client is gone or not */
    struct lw_arena arena;
    struct lw_buffer fields; /* of the response, then its trailers */
    struct luaweb_slice
        head; /* the octets that facts points into, until they are kept */
    struct lw_request *next_free;
    double declared_length;        /* Content-Length that the app set, < 0: none */
    uint64_t began_ns;             /* when its octets were read, see net/tally.h */
    struct lw_walk walk;           /* through the machine of its resource */
    struct luaweb_slice resource;  /* the template; lent by the app */
    struct luaweb_slice tail;      /* behind content in pieces; set by its start */
    uint32_t key;                  /* under which it is counted, but for its status */
    struct luaweb_slice part_type; /* of the content of which parts are wanted */
    uint64_t sent;                 /* octets of content written */
    int status;                    /* of its answer; 0: none yet */
    bool is_kept;                  /* the head lies in the arena */
    bool is_of_end;                /* Lua's content is no representation */
    bool is_parted;                /* Lua has cut the content */
    bool has_parts;                /* there is more than one */
    bool is_started;               /* the head of the response is sent */
    bool has_type;                 /* among the fields */
    bool has_date;                 /* among the fields */
    bool wants_close;              /* the app set Connection: close */
    bool waits_for_content;        /* Lua does, for the wake of this request */
    bool waits_for_room;           /* likewise, to write more of the answer */
    bool is_given;                 /* its function has given all of the answer */
    bool is_unlogged;              /* not in the access log */
    bool is_asked;                 /* Lua was told of it */
    bool knows_gone;               /* Lua was told that the client is gone */
    bool has_query;                /* decoded below */
    bool has_cookies;              /* decoded below */
    bool may_be_named;             /* by who has sent it */
    bool has_trace;                /* found out below */
    bool is_cut;                   /* its answer has not come to its end */
    struct luaweb_fields query;
    struct luaweb_fields cookies;
    struct luaweb_trace trace; /* see net/tracer.h */
};

/* Takes a request from the pool, with a fresh id: nothing of it has happened yet, but
 * what it is (method to peer in `facts`) is to be filled in.  It belongs to the site's
 * owner of now. */
struct lw_request *lw_request_new(struct lw_loop *loop, const struct lw_site *site);

/* The request behind a handle of Lua's, or NULL when it has ended. */
static inline struct lw_request *lw_request_of(struct luaweb_request *facts,
                                               uint32_t generation)
{
    return facts->generation == generation ? (struct lw_request *)facts : NULL;
}

/* Copies the head into the arena, so that the read buffer is free. */
void lw_request_keep(struct lw_request *request);

/* Its handler is done: it can't be late any more. */
void lw_request_disarm(struct lw_request *request);

/* Ends the request: its generation rises, its memory goes back to the pool. */
void lw_request_end(struct lw_request *request);

/* Writes its name for the logs, and a NUL; gives its size (request_id.c). */
#define LW_ID_SIZE (LW_ID_MOST + 1)
size_t lw_request_id(const struct lw_request *request, char id[LW_ID_SIZE]);

/* Whether an answer of this status tells the name; and adds the field that does, unless
 * the app has. */
bool lw_request_shows_id(const struct lw_request *request, int status);
void lw_request_show_id(struct lw_request *request);

/* Counts it, writes its line in the access log if there is one, and keeps its span. */
void lw_request_log(struct lw_request *request);

/* Ends all requests of an owner, which has ended. */
void lw_request_end_owner(struct lw_loop *loop, const struct lw_owner *owner);

/* Frees all requests of the loop, at its end. */
void lw_request_free_all(struct lw_loop *loop);

/* The decoded pairs of query and Cookie fields, lent until the request ends. */
struct luaweb_fields lw_request_query(struct lw_request *request);
struct luaweb_fields lw_request_cookies(struct lw_request *request);

/* Adds a field to the response (enum luaweb_reply_result), at most `limit` octets of
 * all; after lw_request_ops.start it is a trailer. */
int lw_request_field(struct lw_request *request, struct luaweb_slice name,
                     struct luaweb_slice value, size_t limit);

/* Forgets the response's fields. */
void lw_request_field_reset(struct lw_request *request);

#endif
