/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua: tables that all workers of one machine share.  For the
 * rules, see abi.h; one is bent here: a call may wait for another worker that is inside
 * the same part of the table, which is microseconds, and for one that was stopped there
 * (SIGSTOP) LUAWEB_SHARED_WAIT_MS, once.
 */

#ifndef LW_BASE_ABI_SHARED_H
#define LW_BASE_ABI_SHARED_H

#include "base/abi.h"

enum luaweb_shared_limit {
    LUAWEB_SHARED_MAX_NAME = 63,   /* octets of a table's name */
    LUAWEB_SHARED_MAX_KEY = 1024,  /* octets of a key */
    LUAWEB_SHARED_KEY_ROOM = 1026, /* of a key in the list of luaweb_shared_keys */
    LUAWEB_SHARED_WAIT_MS = 100,   /* for a process that holds what it should not */
    LUAWEB_SHARED_MIN_SIZE = 65536
};

enum luaweb_shared_kind {
    LUAWEB_SHARED_NIL,
    LUAWEB_SHARED_TEXT,
    LUAWEB_SHARED_NUMBER,
    LUAWEB_SHARED_BOOLEAN /* `number` is 0 or 1 */
};

struct luaweb_shared_value {
    uint32_t kind; /* enum luaweb_shared_kind */
    double number;
    struct luaweb_slice text;
};

enum luaweb_shared_result {
    LUAWEB_SHARED_DONE,
    LUAWEB_SHARED_ABSENT,    /* nothing has this key */
    LUAWEB_SHARED_OTHER,     /* it has another value, or one already, or no number */
    LUAWEB_SHARED_TOO_LARGE, /* for a value of this table */
    LUAWEB_SHARED_BUSY /* a process that does not go on holds it: nothing was done */
};

/* What happened in a table since it began, and what is in it. */
struct luaweb_shared_stats {
    double size;      /* octets, as the app wants it */
    double capacity;  /* octets for keys and values, in blocks */
    double used;      /* of these */
    double max_value; /* octets of the largest value */
    double count;     /* items, some of which may have expired */
    double hits;
    double misses;
    double writes;
    double evictions; /* of items that nobody had given up */
    double expired;   /* items whose time was over and whose room was needed */
    double repairs;   /* a process died in the middle of a write, which was undone */
    double resets;    /* a part of the table was unreadable, and emptied */
    double busy;      /* calls that gave up */
};

struct luaweb_shared;

/* The table of this name, which is new and empty where there was none, or one of
 * another size.  Lent until the process ends.  NULL: there is no room for it. */
struct luaweb_shared *luaweb_shared_open(struct luaweb_host *host, const char *name,
                                         double size);

/* The value: text is lent until the next call.  DONE, ABSENT or BUSY. */
int luaweb_shared_get(struct luaweb_host *host, struct luaweb_shared *table,
                      const char *key, size_t key_size,
                      struct luaweb_shared_value *value);

/* How a write is to be done. */
enum luaweb_shared_how {
    LUAWEB_SHARED_SET,
    LUAWEB_SHARED_ADD,    /* only where there is nothing; else OTHER */
    LUAWEB_SHARED_COMPARE /* only where there is `expected`; else OTHER */
};
struct luaweb_shared_write {
    const char *key;
    size_t key_size;
    double seconds;                      /* until it expires; 0: never */
    uint32_t how;                        /* enum luaweb_shared_how */
    struct luaweb_shared_value value;    /* NIL, with COMPARE: deletes */
    struct luaweb_shared_value expected; /* NIL: nothing */
};
int luaweb_shared_write(struct luaweb_host *host, struct luaweb_shared *table,
                        const struct luaweb_shared_write *write);

/* Adds `by` to a number, whose time stays; where there is none, to `start`, for
 * write->seconds.  The new one is in write->value.  OTHER: it is no number. */
int luaweb_shared_incr(struct luaweb_host *host, struct luaweb_shared *table,
                       struct luaweb_shared_write *write, double by, double start);

int luaweb_shared_delete(struct luaweb_host *host, struct luaweb_shared *table,
                         const char *key, size_t key_size);

/* Some of the keys that begin with `prefix`, from `cursor` on, which is 0 at first and,
 * when that was all, at the end.  They are lent until the next call, one behind the
 * other: two octets of size (the high one first) and the key. */
struct luaweb_shared_keys {
    double cursor;
    const char *prefix;
    size_t prefix_size;
    struct luaweb_slice keys;
};
int luaweb_shared_keys(struct luaweb_host *host, struct luaweb_shared *table,
                       struct luaweb_shared_keys *keys);

void luaweb_shared_stats(struct luaweb_host *host, struct luaweb_shared *table,
                         struct luaweb_shared_stats *stats);

/* How many requests of a kind there may be.  Takes one of `burst`, which come back at
 * so many per second, for a key (NULL: the client's address), and tells the client in
 * the fields of its answer what is left.  false: nothing was, and the answer says when
 * to come again. */
enum luaweb_rate_limit {
    LUAWEB_RATE_MAX_KEY = 256 /* octets */
};
struct luaweb_rate_policy {
    struct luaweb_shared *table;
    double per_second;
    double burst;
    char label[80];  /* a quoted string: how fields name it */
    uint32_t number; /* among those of the table */
};
bool luaweb_rate_limit(struct luaweb_host *host, struct luaweb_request *request,
                       uint32_t generation, const struct luaweb_rate_policy *policy,
                       const char *key, size_t key_size);

#endif
