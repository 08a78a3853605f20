/* SPDX-License-Identifier: MIT
 *
 * Finding the control socket of a running server. */
#ifndef LW_PROCESS_REMOTE_FIND_H
#define LW_PROCESS_REMOTE_FIND_H

#include "process/remote.h"

#define LW_REMOTE_MOST 1024 /* files that are looked at where no socket is named */

/* Connects to the server that `remote` names, or to the only one that runs.  Gives the
 * descriptor; or -1, and the reason is on the standard error output: *code is what to
 * exit with. */
int lw_remote_connect(const struct lw_remote *remote, int *code);

#endif
