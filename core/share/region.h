/* SPDX-License-Identifier: MIT
 *
 * Memory that all processes of one server share: regions with names, in one sparse
 * memfd that the master makes and every worker inherits.  It outlives reloads and
 * binary upgrades, so a name carries the version of its layout, e.g. "board.1". */
#ifndef LW_SHARE_REGION_H
#define LW_SHARE_REGION_H

#include <stdbool.h>
#include <stddef.h>

/* Makes the memory: a descriptor that is closed on exec, or a negative errno. */
int lw_share_create(void);

/* Maps it, once in a process.  fd < 0: this process is alone, and makes its own.  The
 * descriptor stays the caller's.  false: errno tells why. */
bool lw_share_open(int fd);

/* The region of this name: zeroed when it is new, else as others have left it.  The
 * same name with the same size is the same memory in all processes; with another size
 * it is another region.  Aligned to a page, lent until the process ends.  NULL: there
 * is no room, or no lw_share_open. */
void *lw_share_region(const char *name, size_t size);

/* The same, where a region that is new is made ready by `begin` before anybody else can
 * see it.  When a process dies in there, the next one begins with zeroes again. */
void *lw_share_region_begun(const char *name, size_t size,
                            void (*begin)(void *memory, size_t size));

#endif
