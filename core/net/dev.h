/* SPDX-License-Identifier: MIT
 *
 * What a worker keeps while an app is developed: what the last requests were and how
 * they have walked, which files changed, why the newest generation did not load.  There
 * is none (loop->dev is NULL) but under `luaweb dev`.  It outlives generations. */
#ifndef LW_NET_DEV_H
#define LW_NET_DEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/walk.h"
#include "net/watch.h"

#define LW_DEV_SEEN   100         /* requests that are remembered */
#define LW_DEV_HEAD   8192        /* octets of each head; the rest is cut off */
#define LW_DEV_OWN    "/.luaweb/" /* what paths of ours begin with */
#define LW_DEV_SCRIPT LW_DEV_OWN "dev.js"
#define LW_DEV_TOKEN  32 /* octets, with the NUL */

struct lw_loop;
struct lw_request;
struct lw_response;

/* A request. */
struct lw_seen {
    struct lw_trace trace; /* first: a walk has its address */
    uint64_t id;           /* within the worker; 0: this place is free */
    char *head;            /* owned */
    size_t head_size;
    int64_t time_ms; /* since 1970, when it began */
    uint64_t duration_us;
    uint64_t octets;     /* of content that went out */
    uint32_t generation; /* that serves it */
    int status;          /* 0: it runs */
};

struct lw_dev {
    struct lw_watch *watch;           /* owned */
    struct lw_seen seen[LW_DEV_SEEN]; /* a ring */
    uint32_t next;                    /* in the ring */
    uint32_t news;                    /* counts failures, and what ended them */
    uint32_t generation;              /* that serves: pages of others are out of date */
    bool is_broken;                   /* it is none of the app: that did not load */
    bool is_next_broken;              /* likewise, the one that is loaded */
    char *failure; /* of the newest generation; owned; NULL: it has loaded */
    size_t failure_size;
    bool has_said_policy;
};

/* Begins for a loop, and sets loop->dev; see lw_watch_open. */
struct lw_dev *lw_dev_open(struct lw_loop *loop,
                           void (*changed)(void *context, const char *path),
                           void *context);

/* Ends it; in front of the end of the loop, which may run. */
void lw_dev_close(struct lw_loop *loop);

/* Why the newest generation has not loaded (copied); size 0: it has. */
void lw_dev_failed(struct lw_dev *dev, const char *text, size_t size);

/* Another generation serves. */
void lw_dev_switched(struct lw_dev *dev, uint32_t generation);

/* What names a generation of this process, unlike any other. */
void lw_dev_token(const struct lw_loop *loop, uint32_t generation,
                  char token[LW_DEV_TOKEN]);

/* Whether a request is for a path of ours. */
bool lw_dev_is_own(const struct lw_request *request);

/* The begin of a request's walk: where it is noted, or NULL for our own paths. */
struct lw_trace *lw_dev_begin(struct lw_request *request);

/* Its end. */
void lw_dev_end(const struct lw_request *request);

/* What is sent behind the content of a response: the tag of our script, by which a page
 * refreshes itself; empty where it is no page.  Lent until the request ends. */
struct luaweb_slice lw_dev_tail(struct lw_request *request,
                                const struct lw_response *response);

#endif
