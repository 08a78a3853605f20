/* SPDX-License-Identifier: MIT
 *
 * The file with the number of the server's process, for those who send signals.  It is
 * there whole or not at all, and only once the server serves. */
#ifndef LW_PROCESS_PID_FILE_H
#define LW_PROCESS_PID_FILE_H

#include <sys/types.h>

/* Puts this process's pid into `path` (mode 0644), in the place of what was there.  The
 * new file belongs to `owner` unless that is (uid_t)-1.  0 or a negative errno. */
int lw_pid_file_write(const char *path, uid_t owner);

/* Removes it if the pid in it is still this process's: after a binary upgrade it is the
 * successor's.  Where the folder is not ours to change it is left empty. */
void lw_pid_file_remove(const char *path);

#endif
