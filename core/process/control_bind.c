/* SPDX-License-Identifier: MIT
 *
 * Making the control socket's file, where no other server has its own. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "process/control.h"

#define LOCK_TRIES    100 /* of the folder, while another server starts in it */
#define LOCK_PAUSE_NS 10000000
#define YIELD_S       1 /* for a server to leave its path */

/* The folder of a path, locked, so that of two servers that start at once one sees the
 * other.  -1: it can't be; then that risk is taken. */
static int lock_folder(const char *path)
{
    char folder[sizeof(((struct sockaddr_un *)0)->sun_path)] = ".";
    const char *slash = strrchr(path, '/');
    if (slash) {
        size_t size = slash == path ? 1 : (size_t)(slash - path);
        memcpy(folder, path, size);
        folder[size] = 0;
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return fd;
        nanosleep(&(struct timespec){.tv_nsec = LOCK_PAUSE_NS}, NULL);
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Asks the server behind a connection for the path, which it leaves when it stops. */
static bool has_yielded(int fd)
{
    static const char line[] = "yield\n";
    char answer[3];
    return send(fd, line, sizeof line - 1, MSG_NOSIGNAL) == sizeof line - 1
           && recv(fd, answer, sizeof answer, MSG_WAITALL) == sizeof answer
           && memcmp(answer, "ok\n", sizeof answer) == 0;
}

/* Whether somebody listens there and stays, and which process. */
static bool is_served(const struct sockaddr_un *address, pid_t *holder)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return true;
    const struct timeval patience = {.tv_sec = YIELD_S};
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    bool is_there = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    bool is_dead = !is_there && errno == ECONNREFUSED;
    if (is_there && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
        *holder = peer.pid;
    if (is_there)
        is_dead = has_yielded(fd);
    close(fd);
    return !is_dead;
}

/* Binds, after a leftover has gone.  Nobody else can connect before the mode is set: a
 * socket's file gets the mode that its descriptor has when it is bound. */
static int bind_free(int fd, const struct sockaddr_un *address, pid_t *holder)
{
    struct stat info;
    if (fchmod(fd, 0600) != 0)
        return -errno;
    if (lstat(address->sun_path, &info) == 0) {
        if (!S_ISSOCK(info.st_mode))
            return -EEXIST;
        if (is_served(address, holder))
            return -EADDRINUSE;
        if (unlink(address->sun_path) != 0 && errno != ENOENT)
            return -errno;
    }
    if (bind(fd, (const struct sockaddr *)address, sizeof *address) != 0)
        return -errno;
    return 0;
}

/* Hands the file to `owner` and listens; the file goes when that can't be. */
static int listen_as(int fd, const char *path, uid_t owner)
{
    if ((owner == (uid_t)-1 || lchown(path, owner, (gid_t)-1) == 0)
        && listen(fd, LW_CONTROL_CLIENTS) == 0)
        return 0;
    int error = -errno;
    unlink(path);
    return error;
}

int lw_control_bind(const char *path, uid_t owner, pid_t *holder)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *holder = 0;
    if (*path == 0)
        return -EINVAL;
    if (strlen(path) >= sizeof address.sun_path)
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int lock = lock_folder(path);
    int error = bind_free(fd, &address, holder);
    if (!error)
        error = listen_as(fd, path, owner);
    if (lock >= 0)
        close(lock);
    if (!error)
        return fd;
    close(fd);
    return error;
}
