/* SPDX-License-Identifier: MIT
 *
 * What a worker gets from the master that started it: descriptors and who it is, named
 * in the environment variable LUAWEB_WORKER as "slot:channel:shared:generation:first". */
#ifndef LW_PROCESS_INHERIT_H
#define LW_PROCESS_INHERIT_H

#include <stdbool.h>
#include <stdint.h>

#define LW_INHERIT_NAME "LUAWEB_WORKER"
#define LW_INHERIT_ROOM 64 /* octets of such a text, with its NUL */

struct lw_inherited {
    uint32_t slot;       /* of the board */
    int channel;         /* to the master, see process/channel.h */
    int shared;          /* the shared memory, see share/region.h; -1: none */
    uint32_t generation; /* the number of what it loads first */
    bool is_first; /* nobody serves yet: it tells people what it serves, or why not */
};

/* Writes the text. */
void lw_inherit_write(char out[LW_INHERIT_ROOM], const struct lw_inherited *inherited);

/* Reads it in the worker: its descriptors are closed on exec from now on, and the
 * variable is gone from the environment.  false: this process is no worker. */
bool lw_inherit_read(struct lw_inherited *inherited);

#endif
