/* SPDX-License-Identifier: MIT
 *
 * Where a server's control socket and pid file lie when nobody names a path: in a
 * folder for running programs, named after the first address that it listens on, so that
 * `luaweb reload --listen 127.0.0.1:8080` finds it. */
#ifndef LW_PROCESS_RUN_FOLDER_H
#define LW_PROCESS_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#define LW_RUN_PATH    108 /* octets of a path, with its NUL: a unix socket's */
#define LW_RUN_FOLDERS 3
#define LW_RUN_OURS    "/run/luaweb"

/* The folders that are looked at, in this order: $RUNTIME_DIRECTORY (systemd's),
 * $XDG_RUNTIME_DIR, /run/luaweb.  Gives how many of them this process has. */
size_t lw_run_folders(char out[LW_RUN_FOLDERS][LW_RUN_PATH]);

/* "luaweb-127.0.0.1-8080.sock" in `folder`, for the address "127.0.0.1:8080" and the
 * ending ".sock".  What a file name should not have becomes a dash, and a long address
 * is shortened to its begin and a number.  false: the path is too long. */
bool lw_run_path(char out[LW_RUN_PATH], const char *folder, const char *address,
                 const char *ending);

/* The same in the first folder that this process may write to; /run/luaweb is made when
 * this is root.  $XDG_RUNTIME_DIR is passed over when it is somebody else's.  false:
 * there is no such folder. */
bool lw_run_path_new(char out[LW_RUN_PATH], const char *address, const char *ending);

#endif
