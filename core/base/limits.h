/* SPDX-License-Identifier: MIT
 *
 * The limits that can be set, in one table: LW_LIMITS(X) calls X(name, flag, default,
 * unit, help).  Options, defaults and the help text come from it.  Units: OCTETS,
 * COUNT, and SECONDS, which are kept as milliseconds. */
#ifndef LW_BASE_LIMITS_H
#define LW_BASE_LIMITS_H

#include <stdint.h>

/* clang-format off */
#define LW_LIMITS(X)                                                                  \
    X(max_connections, "--max-connections", 16384, COUNT,                             \
      "more connections get 503")                                                     \
    X(max_target, "--max-target", 8192, OCTETS,                                       \
      "longer targets get 414")                                                       \
    X(max_header_size, "--max-header-size", 32768, OCTETS,                            \
      "more octets of headers get 431")                                               \
    X(max_headers, "--max-headers", 128, COUNT,                                       \
      "more headers get 431")                                                         \
    X(max_body, "--max-body", 8388608, OCTETS,                                        \
      "more content gets 413")                                                        \
    X(max_chunk_extensions, "--max-chunk-extensions", 4096, OCTETS,                   \
      "more of them get 400")                                                         \
    X(max_trailers, "--max-trailers", 8192, OCTETS,                                   \
      "more octets of them get 431")                                                  \
    X(header_timeout, "--header-timeout", 10000, SECONDS,                             \
      "a slower head gets 408")                                                       \
    X(body_timeout, "--body-timeout", 60000, SECONDS,                                 \
      "content that stands still gets 408")                                           \
    X(body_rate, "--body-rate", 240, OCTETS,                                          \
      "slower content, in a second, gets 408 after 5 s")                   \
    X(request_timeout, "--request-timeout", 0, SECONDS,                               \
      "a handler that takes longer is a 503")                                \
    X(max_requests, "--max-requests", 0, COUNT,                                       \
      "a connection closes after so many")                                  \
    X(max_read_ahead, "--max-read-ahead", 65536, OCTETS,                              \
      "read behind a request that waits, then reading rests")                         \
    X(lua_memory, "--lua-memory", 1073741824, OCTETS,                                 \
      "new requests get 503 while Lua holds more")                                    \
    X(idle_timeout, "--idle-timeout", 75000, SECONDS,                                 \
      "connections at rest are closed")                                               \
    X(write_timeout, "--write-timeout", 60000, SECONDS,                               \
      "a client that does not read is cut")                                           \
    X(drain_timeout, "--drain-timeout", 30000, SECONDS,                               \
      "what is left at a stop is cut")                                                \
    X(stall_timeout, "--stall-timeout", 5000, SECONDS,                                \
      "a worker that stands still for longer is replaced")                            \
    X(stall_warning, "--stall-warning", 0, SECONDS,                                   \
      "what holds up a worker for longer is logged")
/* clang-format on */

struct lw_limits {
#define LW_LIMIT(name, flag, value, unit, help) uint64_t name;
    LW_LIMITS(LW_LIMIT)
#undef LW_LIMIT
    uint64_t shown_ids;    /* enum lw_shown_ids */
    uint64_t takes_any_id; /* whoever sends a request may name it */
};

/* Which answers tell the names of their requests. */
enum lw_shown_ids {
    LW_IDS_IN_ERRORS, /* of the server: 500 and above */
    LW_IDS_IN_ALL,
    LW_IDS_IN_NONE
};

/* Those that can't. */
#define LW_LUA_STACK         (120 << 20) /* octets of C stack where Lua runs */
#define LW_DEV_WARNING_MS    100         /* --stall-warning of `luaweb dev` */
#define LW_MAX_UNREAD        65536 /* unread content swallowed to keep a connection */
#define LW_MAX_RESPONSE_HEAD 65536 /* octets of fields that an app may add */
#define LW_OUT_HIGH          65536 /* octets to send, above which writers wait */
#define LW_OUT_LOW           16384 /* octets to send, below which they go on */
#define LW_DRAIN_GRACE_MS    250   /* for a request on its way, at a stop */
#define LW_LAST_WORK_MS      2000  /* for what runs on the thread pool, at the end */
#define LW_HALF_CLOSE_GRACE_MS \
    1000 /* from the end of a client's stream until it counts as gone */
#define LW_LINGER_MS    5000 /* for a client to read our last words */
#define LW_BODY_RATE_MS 5000 /* of waiting, before --body-rate counts */
#define LW_OVERFLOW     64   /* connections above the limit, to be told so */
#define LW_MATCH_STEPS  2000 /* of finding a path's resource; then it has none */
#define LW_RETRY_AFTER  "5"  /* seconds, for those whom we have no room for */

#endif
