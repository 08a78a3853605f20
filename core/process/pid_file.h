/* SPDX-License-Identifier: MIT
 *
 * The file with the number of the server's process, for those who send signals.  It is
 * there whole or not at all, and only once the server serves. */
#ifndef LW_PROCESS_PID_FILE_H
#define LW_PROCESS_PID_FILE_H

#include <sys/types.h>

/* Whether `path` could be written: 0 or a negative errno.  Nothing is done. */
int lw_pid_file_check(const char *path);

/* Root's: puts an empty file of `owner` there, which will write it when it is not root
 * any more and can't change the folder.  0 or a negative errno. */
int lw_pid_file_prepare(const char *path, uid_t owner);

/* Puts this process's pid there (mode 0644), in the place of what was there.  0 or a
 * negative errno. */
int lw_pid_file_write(const char *path);

/* Removes it if the pid in it is still this process's: after a binary upgrade it is the
 * successor's.  Where the folder is not ours to change it is left empty. */
void lw_pid_file_remove(const char *path);

#endif
