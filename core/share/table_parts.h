/* SPDX-License-Identifier: MIT
 *
 * What a process knows of a shared table: for the files of table.h only. */
#ifndef LW_SHARE_TABLE_PARTS_H
#define LW_SHARE_TABLE_PARTS_H

#include <stdatomic.h>

#include "share/shard.h"
#include "share/table.h"

enum {
    LW_TABLE_SHARDS = 32 /* at most */
};

/* What is at the front of a table's memory. */
struct lw_table_front {
    uint64_t key[2]; /* of the hash */
    _Atomic uint64_t busy;
};

struct lw_table {
    struct lw_table_front *front;
    uint64_t size;
    char *text; /* of the last value; owned */
    size_t text_room;
    uint32_t shard_count;
    struct lw_shard shards[LW_TABLE_SHARDS];
};

#endif
