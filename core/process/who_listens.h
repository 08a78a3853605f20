/* SPDX-License-Identifier: MIT
 *
 * Who holds an address on which we can't listen, as far as Linux shows it in /proc. */
#ifndef LW_PROCESS_WHO_LISTENS_H
#define LW_PROCESS_WHO_LISTENS_H

#include <stdbool.h>
#include <stddef.h>

#include "process/address.h"

/* Writes e.g. "nginx (pid 4711)".  false: nobody does, or we may not know.  For one
 * message at a start: it reads many files. */
bool lw_who_listens(const struct lw_address *address, char *out, size_t room);

#endif
