/* SPDX-License-Identifier: MIT
 *
 * What `luaweb dev` is beside serving: the command line that it allows, and what its
 * worker watches and remembers.  Nothing but that command switches it on, neither a flag
 * nor the environment. */
#ifndef LW_PROCESS_DEVELOP_H
#define LW_PROCESS_DEVELOP_H

#include <stdbool.h>
#include <stdint.h>

#include "process/options.h"

struct lw_worker;

/* The command's page. */
extern const char lw_develop_help[];

/* Completes what was read of a command line: whether it is that command, and its
 * defaults.  false: it would show sources to others than this machine, which is refused
 * with a message. */
bool lw_develop_read(struct lw_options *options);

/* Begins in a worker, where the command is that one. */
void lw_develop_begin(struct lw_worker *worker);

#endif
