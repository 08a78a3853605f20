/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua: every struct that Lua reads and every function that Lua
 * may call.  The C compiler includes this file; Lua hands the same text, without the
 * lines that begin with a #, to ffi.cdef, so it holds plain declarations only.  The
 * border goes on in abi_app.h (what apps are made of), abi_walk.h (what a request's
 * walk asks), and the other abi_*.h, each of which says what it is about.  Any layer may
 * include them; core/host/abi*.c have the bodies of the functions.
 *
 * Rules of the border.  Every function takes the host.  None of them enters Lua,
 * blocks, or keeps a pointer that it was given: octets are copied before it returns.
 * Pointers handed out are lent until the request ends (or as said).  A request is named
 * by its address and the generation that it had when Lua got it: the memory is pooled
 * and never freed, so a stale name is noticed, never followed. */

#ifndef LW_BASE_ABI_H
#define LW_BASE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Octets that somebody else owns. */
struct luaweb_slice {
    const char *data;
    size_t size;
};

/* A header, trailer, query, form or cookie pair. */
struct luaweb_field {
    struct luaweb_slice name;
    struct luaweb_slice value;
};

struct luaweb_fields {
    const struct luaweb_field *list;
    uint32_t count;
};

/* How the values of a parameter come. */
enum luaweb_param_kind {
    LUAWEB_PARAM_TEXT, /* one value */
    LUAWEB_PARAM_ITEM, /* one of a list; the others follow under the same name */
    LUAWEB_PARAM_PAIR  /* one of a map, under `key`; likewise */
};

/* A value that the template captured, percent-decoded once. */
struct luaweb_param {
    struct luaweb_slice name; /* of the variable */
    struct luaweb_slice key;  /* of the pair of a map */
    struct luaweb_slice value;
    uint32_t kind;      /* enum luaweb_param_kind */
    uint32_t is_number; /* the app demanded a number, and this is one */
};

struct luaweb_params {
    const struct luaweb_param *list;
    uint32_t count;
};

/* What Lua may read of a request.  Slices are lent until `generation` changes. */
struct luaweb_request {
    uint64_t id;         /* unique within the worker */
    uint32_t generation; /* of this slot; raised when the request ends */
    uint32_t slot;       /* small number, unique among the requests of the worker */
    uint32_t minor_version;
    uint32_t has_query;
    struct luaweb_slice method;
    struct luaweb_slice target; /* as received */
    struct luaweb_slice scheme;
    struct luaweb_slice
        host; /* the authority that the client asked for, may be empty */
    struct luaweb_slice path;      /* as received, not decoded */
    struct luaweb_slice query;     /* without the question mark */
    struct luaweb_slice peer;      /* address of the client as text */
    struct luaweb_fields headers;  /* in order of arrival, OWS removed */
    struct luaweb_fields trailers; /* there when the content was read to its end */
    struct luaweb_params params;   /* in the order of the template */
};

/* What happened; pulled by luaweb_next. */
enum luaweb_event_kind {
    LUAWEB_EVENT_NONE,
    LUAWEB_EVENT_REQUEST, /* request, generation, function: call the function */
    LUAWEB_EVENT_WAKE,    /* id: what was waited for under this id may be tried again */
    LUAWEB_EVENT_GONE,    /* request, generation, id: bits of enum luaweb_gone */
    LUAWEB_EVENT_STOPPING, /* the worker was told to stop */
    LUAWEB_EVENT_STOP /* nothing is open any more; id not 0: the time for that is over,
                         and so many milliseconds are left for the rest */
};

/* What has happened to a request whose function waits. */
enum luaweb_gone {
    LUAWEB_GONE_TELL = 1,   /* its client is gone */
    LUAWEB_GONE_CANCEL = 2, /* its work is to end */
    LUAWEB_GONE_LATE = 4    /* it took too long and was answered: it has ended */
};

struct luaweb_event {
    uint32_t kind;
    uint32_t id;
    uint32_t generation;
    uint32_t function;
    struct luaweb_request *request;
};

/* What luaweb_body answers beside a status (>= 100) that ends the request. */
enum luaweb_body_result {
    LUAWEB_BODY_EARLY = -2, /* the walk has not come to where content may be read */
    LUAWEB_BODY_GONE = -1,  /* the client is gone */
    LUAWEB_BODY_PIECE = 0,  /* a piece was lent until the next call */
    LUAWEB_BODY_WAIT = 1,   /* nothing here yet; wait for the wake of the request */
    LUAWEB_BODY_END = 2     /* that was all */
};

/* What the functions that build a response answer. */
enum luaweb_reply_result {
    LUAWEB_REPLY_OK = 0,
    LUAWEB_REPLY_GONE = -1,      /* the client is gone, or the request has ended */
    LUAWEB_REPLY_BAD_NAME = -2,  /* not a header name (RFC 9110 5.1) */
    LUAWEB_REPLY_BAD_VALUE = -3, /* CR, LF, NUL or another control octet in the value */
    LUAWEB_REPLY_TOO_LARGE = -4, /* header section of the response above its limit */
    LUAWEB_REPLY_STARTED = -5,   /* the head of the response was sent already */
    LUAWEB_REPLY_NO_BODY = 1,    /* sent; content is not wanted (HEAD, 204) */
    LUAWEB_REPLY_ASK = 2,        /* call luaweb_pending, answer it, reply again */
    LUAWEB_REPLY_PART = 3,       /* a part is wanted: luaweb_parts, reply again */
    LUAWEB_REPLY_INSTEAD = 4     /* not this content: luaweb_pending answers */
};

/* What the functions on sockets answer instead of a count of octets. */
enum luaweb_socket_result {
    LUAWEB_SOCKET_CLOSED = 0, /* orderly end of what the other side sends */
    LUAWEB_SOCKET_WAIT = -1,  /* wait for the wake of the socket, then try again */
    LUAWEB_SOCKET_RESET = -2  /* the connection is lost */
};

struct luaweb_host;
struct luaweb_app;

/* sizeof of the structs above as C sees them, compared by Lua at start. */
struct luaweb_sizes {
    uint32_t slice, field, fields, param, params, request, event, row;
};
void luaweb_sizes(struct luaweb_host *host, struct luaweb_sizes *sizes);

/* The next event of this turn; kind is NONE when there is none or the budget is
 * used. */
void luaweb_next(struct luaweb_host *host, struct luaweb_event *event);

/* Wakes the id that it gives after this time; then the id is free for others.  Stopping
 * frees it earlier; a wake that is on its way then finds nobody. */
uint32_t luaweb_timer_start(struct luaweb_host *host, double seconds);
void luaweb_timer_stop(struct luaweb_host *host, uint32_t id);

/* Seconds of a clock that never goes back. */
double luaweb_now(struct luaweb_host *host);

/* One line in the error log; level 0 debug, 1 info, 2 warn, 3 error. */
void luaweb_log(struct luaweb_host *host, int level, const char *text, size_t size);

/* A signal to stop does not drain but exits with `code`: there is nobody to wait
 * for. */
void luaweb_exit_on_signal(struct luaweb_host *host, int code);

/* The app is loaded, and can serve; `workers`: how many it wants, 0: any.  The text lists
 * its routes for people. */
void luaweb_loaded(struct luaweb_host *host, struct luaweb_app *app, uint32_t workers,
                   const char *routes, size_t size);

/* Lua has come to its end: a command's, or since the app can't be loaded; the text says
 * why, and is printed.  Where nothing else goes on, the process exits with `code`. */
void luaweb_exit(struct luaweb_host *host, int code, const char *text, size_t size);

/* Serves the app at host:port ("127.0.0.1", 8080) or unix:path (host "unix:/path").
 * Gives the port (0 for a unix socket), or a negative libuv error code. */
int luaweb_listen(struct luaweb_host *host, struct luaweb_app *app, const char *address,
                  int port);

/* The text of a libuv error code (static). */
const char *luaweb_error(struct luaweb_host *host, int code);

/* Writes what the logs name the request by: at most 128 octets and a NUL. */
void luaweb_request_id(struct luaweb_host *host, const struct luaweb_request *request,
                       char id[129]);

/* The template of the resource that a request is for, lent by the app; empty where there
 * is none, or the request has ended. */
struct luaweb_slice luaweb_template(struct luaweb_host *host,
                                    struct luaweb_request *request,
                                    uint32_t generation);

/* Finds a header (or trailer) by its name in any case: how many lines it has, and the
 * value of the first, lent until the request ends. */
uint32_t luaweb_header_find(struct luaweb_host *host, struct luaweb_request *request,
                            bool is_trailer, const char *name, size_t size,
                            struct luaweb_slice *value);

/* Whether the client of a request is known to be gone, or the request has ended. */
bool luaweb_is_gone(struct luaweb_host *host, struct luaweb_request *request,
                    uint32_t generation);

/* A request's lazily decoded parts; lent until the request ends.  false: the request
 * has ended. */
bool luaweb_query(struct luaweb_host *host, struct luaweb_request *request,
                  uint32_t generation, struct luaweb_fields *fields);
bool luaweb_cookies(struct luaweb_host *host, struct luaweb_request *request,
                    uint32_t generation, struct luaweb_fields *fields);

/* The next pair of a form (RFC: WHATWG URL, urlencoded parsing).  `rest` is moved on,
 * the decoded pair is lent until the next call.  false: no more. */
bool luaweb_form(struct luaweb_host *host, struct luaweb_slice *rest,
                 struct luaweb_field *pair);

/* The type of a Content-Type value in lower case, and its charset and boundary where
 * given (empty slices otherwise); lent until the next call.  false: not a media
 * type. */
bool luaweb_media_type(struct luaweb_host *host, const char *text, size_t size,
                       struct luaweb_slice *type, struct luaweb_slice *charset,
                       struct luaweb_slice *boundary);

/* The next piece of the request's content (enum luaweb_body_result or a status). */
int luaweb_body(struct luaweb_host *host, struct luaweb_request *request,
                uint32_t generation, struct luaweb_slice *piece);

/* Replaces the limit of this request's content, in octets. */
void luaweb_body_limit(struct luaweb_host *host, struct luaweb_request *request,
                       uint32_t generation, double limit);

/* Adds a header to the response (enum luaweb_reply_result); after luaweb_start, a
 * trailer, which goes out when the response is chunked.  Framing is not the app's:
 * Transfer-Encoding, Connection (but for "close"), Keep-Alive, Upgrade, Trailer are
 * dropped; Content-Length counts for luaweb_start only. */
int luaweb_header(struct luaweb_host *host, struct luaweb_request *request,
                  uint32_t generation, const char *name, size_t name_size,
                  const char *value, size_t value_size);

/* Forgets the headers added so far, and that there was content to send (an error
 * response replaces the one begun). */
void luaweb_header_reset(struct luaweb_host *host, struct luaweb_request *request,
                         uint32_t generation);

/* Answers the request with this content and ends it.  Status 0: the one that the walk
 * finds.  `type` NULL: the one that was negotiated, else text. */
int luaweb_reply(struct luaweb_host *host, struct luaweb_request *request,
                 uint32_t generation, int status, const char *type, size_t type_size,
                 const char *body, size_t body_size);

/* Sends the head of a response whose content follows through luaweb_write; length < 0:
 * not known (chunked, or until close for HTTP/1.0). */
int luaweb_start(struct luaweb_host *host, struct luaweb_request *request,
                 uint32_t generation, int status, const char *type, size_t type_size,
                 double length);

/* Takes some of the content: how many octets, 0 for wait (for the wake of the request;
 * but of no octets none are taken, and nothing wakes), or a negative
 * luaweb_reply_result. */
double luaweb_write(struct luaweb_host *host, struct luaweb_request *request,
                    uint32_t generation, const char *data, size_t size);

/* Whether some would be taken: 1, or 0 and the wake of the request tells when; or a
 * negative luaweb_reply_result. */
int luaweb_room(struct luaweb_host *host, struct luaweb_request *request,
                uint32_t generation);

/* Ends a response begun by luaweb_start, and the request with it. */
int luaweb_finish(struct luaweb_host *host, struct luaweb_request *request,
                  uint32_t generation);

/* Ends the request with a 500 that asks Lua for nothing.  An answer that has begun is
 * cut off with its connection, so that the client sees that content is missing. */
void luaweb_abort(struct luaweb_host *host, struct luaweb_request *request,
                  uint32_t generation);

/* Client ends, for tests and (later) clients.  An id, or a negative libuv error code.
 * Memory: joined to a connection of the app without a network between. */
int luaweb_socket_memory(struct luaweb_host *host, struct luaweb_app *app);
int luaweb_socket_connect(struct luaweb_host *host, const char *address, int port);
double luaweb_socket_send(struct luaweb_host *host, uint32_t id, const char *data,
                          size_t size);
double luaweb_socket_receive(struct luaweb_host *host, uint32_t id, char *data,
                             size_t size);
void luaweb_socket_finish(struct luaweb_host *host, uint32_t id);
void luaweb_socket_close(struct luaweb_host *host, uint32_t id);

/* The same with a reset: the other side learns at once that nobody waits for it. */
void luaweb_socket_reset(struct luaweb_host *host, uint32_t id);

#endif
