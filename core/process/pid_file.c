/* SPDX-License-Identifier: MIT
 *
 * Writing the pid file whole, beside its place, and moving it there. */
#include "process/pid_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fill(int fd, uid_t owner)
{
    char text[24];
    int size = snprintf(text, sizeof text, "%d\n", (int)getpid());
    ssize_t written = write(fd, text, (size_t)size);
    if (written != size)
        return written < 0 ? -errno : -ENOSPC;
    if (fchmod(fd, 0644) != 0) /* whatever the mask is: others may read it */
        return -errno;
    if (owner != (uid_t)-1 && fchown(fd, owner, (gid_t)-1) != 0)
        return -errno;
    return 0;
}

int lw_pid_file_write(const char *path, uid_t owner)
{
    char beside[PATH_MAX];
    if (snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid()) >= PATH_MAX)
        return -ENAMETOOLONG;
    unlink(beside); /* a leftover of one that had our number */
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    int error = fill(fd, owner);
    close(fd);
    if (!error && rename(beside, path) != 0)
        error = -errno;
    if (error)
        unlink(beside);
    return error;
}

void lw_pid_file_remove(const char *path)
{
    char text[24] = "";
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    if (size <= 0 || strtol(text, NULL, 10) != getpid())
        return;
    if (unlink(path) == 0)
        return;
    fd = open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
}
