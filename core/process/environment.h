/* SPDX-License-Identifier: MIT
 *
 * The environment of a process that the master starts. */
#ifndef LW_PROCESS_ENVIRONMENT_H
#define LW_PROCESS_ENVIRONMENT_H

/* Ours with one more variable, NULL at its end; what is for one process only
 * (LUAWEB_WORKER, LUAWEB_UPGRADE) is left out, and what systemd gave to the master,
 * too, unless it is for a new master.  The caller's: lw_environment_free. */
char **lw_environment_with(const char *name, const char *value);

void lw_environment_free(char **environment);

#endif
