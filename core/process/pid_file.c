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

static int write_pid(int fd)
{
    char text[24];
    int size = snprintf(text, sizeof text, "%d\n", (int)getpid());
    ssize_t written = write(fd, text, (size_t)size);
    if (written != size)
        return written < 0 ? -errno : -ENOSPC;
    return 0;
}

static int give(int fd, uid_t owner)
{
    return fchown(fd, owner, (gid_t)-1) == 0 ? 0 : -errno;
}

/* Makes a file beside the path and moves it there: with the pid, or for `owner`. */
static int replace(const char *path, uid_t owner)
{
    char beside[PATH_MAX];
    if (snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid()) >= PATH_MAX)
        return -ENAMETOOLONG;
    unlink(beside); /* a leftover of one that had our number */
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    int error = fchmod(fd, 0644) == 0 ? 0 : -errno; /* whatever the mask is */
    if (!error)
        error = owner == (uid_t)-1 ? write_pid(fd) : give(fd, owner);
    close(fd);
    if (!error && rename(beside, path) != 0)
        error = -errno;
    if (error)
        unlink(beside);
    return error;
}

/* Where the folder is not ours, the file may be. */
static int overwrite(const char *path)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int error = write_pid(fd);
    close(fd);
    return error;
}

int lw_pid_file_check(const char *path)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (strlen(path) >= sizeof folder)
        return -ENAMETOOLONG;
    if (slash)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    if (access(path, W_OK) == 0 || access(folder, W_OK | X_OK) == 0)
        return 0;
    return -errno;
}

int lw_pid_file_prepare(const char *path, uid_t owner)
{
    return replace(path, owner);
}

int lw_pid_file_write(const char *path)
{
    int error = replace(path, (uid_t)-1);
    return error == -EACCES || error == -EROFS ? overwrite(path) : error;
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
