/* SPDX-License-Identifier: MIT
 *
 * A table that the processes of one server share: keys with values, each operation one
 * atomic step.  When it is full, what has expired makes room, else what was used
 * longest ago.  A process that is killed in the middle of an operation leaves the table
 * as it was before, and holds nobody.
 *
 * Times are microseconds of CLOCK_MONOTONIC.  Results are enum luaweb_shared_result;
 * every operation may be LUAWEB_SHARED_BUSY, and then has done nothing. */
#ifndef LW_SHARE_TABLE_H
#define LW_SHARE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/abi_shared.h"
#include "base/slice.h"

struct lw_table;

#define LUAWEB_SHARED_MAX_SIZE ((uint64_t)16 << 30) /* octets of the largest table */

/* The table of this name (at most LUAWEB_SHARED_MAX_NAME octets) in shared memory,
 * LUAWEB_SHARED_MIN_SIZE to LUAWEB_SHARED_MAX_SIZE octets large.  One that had another
 * size is forgotten for a new one; that is logged.  Lent until the process ends.  NULL:
 * there is no room. */
struct lw_table *lw_table_open(const char *name, uint64_t size);

/* A table in memory of the caller's, shared or not, which stays his: `size` octets,
 * zeroes when it is new (then lw_table_begin).  The caller owns the result. */
struct lw_table *lw_table_attach(void *memory, uint64_t size);
void lw_table_detach(struct lw_table *table);
void lw_table_begin(void *memory, size_t size);

/* Empties a table and gives its memory back; what goes on using it finds it empty. */
void lw_table_release(struct lw_table *table);

/* DONE with the value, whose text is lent until the next call for this table; or
 * ABSENT. */
int lw_table_get(struct lw_table *table, struct luaweb_slice key, uint64_t now_us,
                 struct luaweb_shared_value *value);

/* What a write is about. */
struct lw_write {
    struct luaweb_slice key;
    uint64_t now_us;
    uint64_t expires_us; /* 0: never */
};

/* DONE, or TOO_LARGE.  Add: OTHER when something has the key already. */
int lw_table_set(struct lw_table *table, const struct lw_write *write,
                 const struct luaweb_shared_value *value);
int lw_table_add(struct lw_table *table, const struct lw_write *write,
                 const struct luaweb_shared_value *value);

/* Writes `value` (of kind NIL: deletes) only where there is `expected` (NIL: nothing).
 * DONE, TOO_LARGE, or OTHER. */
int lw_table_compare_and_set(struct lw_table *table, const struct lw_write *write,
                             const struct luaweb_shared_value *expected,
                             const struct luaweb_shared_value *value);

/* Adds `by` to a number, whose time to live stays; where there is none, to `start`, and
 * it expires as `write` says.  DONE with the new number; OTHER: it is no number. */
int lw_table_incr(struct lw_table *table, const struct lw_write *write, double by,
                  double start, double *number);

/* DONE or ABSENT. */
int lw_table_delete(struct lw_table *table, struct luaweb_slice key, uint64_t now_us);

/* Takes one of so many per second, more in a burst (GCRA).  The key's number is the
 * time when all is there again.  DONE: taken; OTHER: none is left. */
struct lw_rate {
    double interval_us; /* between two at the lasting rate */
    double burst;       /* so many at once, at least 1 */
};
struct lw_rate_state {
    double left;    /* of the burst; what is not whole is on its way */
    double full_s;  /* seconds until all is there again */
    double retry_s; /* until one can be taken; <= 0: now */
};
int lw_table_take(struct lw_table *table, struct luaweb_slice key, uint64_t now_us,
                  const struct lw_rate *rate, struct lw_rate_state *state);

/* Lists keys that begin with `prefix`, a part of the table with each call: from
 * `cursor`, 0 at first, which goes on; 0 again: that was all.  Writes them one behind
 * the other, each as two octets of size (the high one first) and its own.  Keys that
 * are there all the time are in the list, some twice while others are removed. */
struct lw_listing {
    uint64_t cursor;
    struct luaweb_slice prefix;
    uint64_t now_us;
    char *into;
    size_t room; /* at least LUAWEB_SHARED_KEY_ROOM */
    size_t size; /* so much was written */
};
int lw_table_keys(struct lw_table *table, struct lw_listing *listing);

/* What there is, and what happened.  Reads without a lock: numbers of a moment. */
struct lw_table_stats {
    uint64_t size;     /* octets, as it was opened */
    uint64_t capacity; /* octets of all blocks */
    uint64_t used;     /* octets of blocks with items */
    uint64_t max_value;
    uint64_t count; /* items; some may have expired */
    uint64_t hits;
    uint64_t misses;
    uint64_t writes;
    uint64_t evictions; /* of items that had not expired */
    uint64_t expired;   /* removed for their room */
    uint64_t repairs;   /* of what a process that died had half done */
    uint64_t resets;    /* parts that made no sense, and were emptied */
    uint64_t busy;      /* calls that gave up */
};
void lw_table_stats(const struct lw_table *table, struct lw_table_stats *stats);

/* Forgets all that were opened, at the end of the process; nobody has one any more. */
void lw_tables_forget(void);

/* The tables of all processes, for who shows their numbers: the one at `index` from 0,
 * and its name; NULL: there are no more. */
struct lw_table *lw_table_at(uint32_t index, char name[LUAWEB_SHARED_MAX_NAME + 1]);

/* Octets of the largest key and value together. */
uint64_t lw_table_max_item(const struct lw_table *table);

/* NULL, or what is wrong with it; slow, for tests. */
const char *lw_table_check(struct lw_table *table);

#endif
