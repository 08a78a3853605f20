/* SPDX-License-Identifier: MIT
 *
 * Finding the control socket of a running server: by its path, by the address that it
 * listens on, or because it is the only one. */
#include "process/remote_find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "process/run_folder.h"

enum {
    WRONG_USAGE = 2,
    NO_ANSWER = 5
};

/* A descriptor or a negative errno. */
static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    int error = -errno;
    close(fd);
    return error;
}

static const char *reason_of(int error)
{
    if (error == -ECONNREFUSED)
        return "nobody listens there: that server has ended";
    if (error == -EACCES)
        return "permission denied: only root and the server's user may";
    return strerror(-error);
}

static int connect_named(const char *path, int *code)
{
    int fd = connect_to(path);
    if (fd >= 0)
        return fd;
    fprintf(stderr, "luaweb: no server answers at %s: %s\n", path, reason_of(fd));
    *code = NO_ANSWER;
    return -1;
}

static void print_folders(char folders[LW_RUN_FOLDERS][LW_RUN_PATH], size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s%s", i > 0 ? ", " : "", folders[i]);
    fputs("; --control names the socket of a server\n", stderr);
}

static int connect_listening(const char *address, int *code)
{
    char folders[LW_RUN_FOLDERS][LW_RUN_PATH], path[LW_RUN_PATH];
    size_t count = lw_run_folders(folders);
    int denied = 0;
    for (size_t i = 0; i < count; i++) {
        if (!lw_run_path(path, folders[i], address, ".sock"))
            continue;
        int fd = connect_to(path);
        if (fd >= 0)
            return fd;
        if (fd == -EACCES)
            denied = fd;
    }
    fprintf(stderr, "luaweb: no server that listens on %s answers: ", address);
    if (denied)
        fprintf(stderr, "%s; looked into ", reason_of(denied));
    else
        fputs("looked into ", stderr);
    print_folders(folders, count);
    *code = NO_ANSWER;
    return -1;
}

/* Those that answer, found in the folders. */
struct found {
    char path[LW_RUN_PATH]; /* of the first */
    int fd;                 /* to it; -1: there is none */
    int count;
    int looked_at;
    int error; /* of one that did not let us in */
};

static bool is_control_name(const char *name)
{
    size_t size = strlen(name);
    return strncmp(name, "luaweb-", 7) == 0 && size > 12
           && strcmp(name + size - 5, ".sock") == 0;
}

static void try_one(struct found *found, const char *path)
{
    int fd = connect_to(path);
    if (fd == -EACCES)
        found->error = fd;
    if (fd < 0)
        return;
    if (found->count++ == 0) {
        found->fd = fd;
        snprintf(found->path, sizeof found->path, "%s", path);
        return;
    }
    close(fd);
    if (found->count == 2)
        fprintf(stderr,
                "luaweb: several servers run here: name one by --control, or by"
                " --listen and its address\n  --control %s\n",
                found->path);
    fprintf(stderr, "  --control %s\n", path);
}

static void look_into(struct found *found, const char *folder);

/* A socket, or the folder of one service. */
static void look_at(struct found *found, const char *folder, const struct dirent *entry)
{
    char path[LW_RUN_PATH];
    int size = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (size >= LW_RUN_PATH || entry->d_name[0] == '.')
        return;
    if (is_control_name(entry->d_name))
        try_one(found, path);
    else if (entry->d_type == DT_DIR && strcmp(folder, LW_RUN_OURS) == 0)
        look_into(found, path);
}

static void look_into(struct found *found, const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (found->looked_at++ >= LW_REMOTE_MOST)
            break;
        look_at(found, folder, entry);
    }
    closedir(dir);
}

/* Whether looking into `outer` will look into this one too. */
static bool is_inside(const char *folder, const char *outer)
{
    size_t size = strlen(outer);
    return strncmp(folder, outer, size) == 0
           && (folder[size] == 0 || folder[size] == '/');
}

static int connect_only(int *code)
{
    char folders[LW_RUN_FOLDERS][LW_RUN_PATH];
    struct found found = {.fd = -1};
    size_t count = lw_run_folders(folders);
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || !is_inside(folders[i], LW_RUN_OURS))
            look_into(&found, folders[i]);
    if (found.count == 1)
        return found.fd;
    *code = NO_ANSWER;
    if (found.count > 1) {
        close(found.fd);
        *code = WRONG_USAGE;
        return -1;
    }
    fputs("luaweb: no server answers: ", stderr);
    if (found.error)
        fprintf(stderr, "%s; ", reason_of(found.error));
    fputs("looked for luaweb-*.sock in ", stderr);
    print_folders(folders, count);
    return -1;
}

int lw_remote_connect(const struct lw_remote *remote, int *code)
{
    if (remote->control)
        return connect_named(remote->control, code);
    if (remote->listen)
        return connect_listening(remote->listen, code);
    return connect_only(code);
}
