/* SPDX-License-Identifier: MIT
 *
 * Opening what others see of a server. */
#include "process/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/require.h"
#include "net/access_log.h"
#include "process/master.h"
#include "process/pid_file.h"
#include "process/run_folder.h"

enum {
    APP_IS_WRONG = 1,
    WRONG_USAGE = 2,
    CANNOT_LISTEN = 3
};

int lw_outside_hand_on(const struct lw_outside *outside, char *out, int as)
{
    const char *control = outside->control_path ? outside->control_path : "";
    const char *pid = outside->pid_path ? outside->pid_path : "";
    int fd = outside->has_control ? lw_control_descriptor(&outside->control) : -1;
    snprintf(out, LW_OUTSIDE_ROOM, " outside.%d.%d\n%s\n%s", fd < 0 ? -1 : as,
             outside->passed_count > 0, control, pid);
    return fd;
}

void lw_outside_inherit(struct lw_outside *outside, const char *text)
{
    int passed = 0;
    const char *ours = strstr(text, " outside.");
    const char *control = ours ? strchr(ours, '\n') : NULL;
    const char *pid = control ? strchr(control + 1, '\n') : NULL;
    if (!pid || sscanf(ours, " outside.%d.%d", &outside->control_fd, &passed) != 2)
        return;
    outside->was_passed = passed;
    if (pid > control + 1)
        outside->control_path = strndup(control + 1, (size_t)(pid - control - 1));
    if (pid[1])
        outside->pid_path = strdup(pid + 1);
    if (outside->control_fd >= 0)
        fcntl(outside->control_fd, F_SETFD, FD_CLOEXEC);
}

int lw_outside_prepare(struct lw_master *master, const char *fds)
{
    struct lw_outside *outside = &master->outside;
    const struct lw_options *options = master->options;
    outside->began_ms = uv_now(&master->loop);
    if (!lw_privileges_find(&outside->privileges, options->user, options->group))
        return WRONG_USAGE;
    lw_systemd_open(&outside->systemd);
    outside->passed_count = outside->was_passed
                                ? lw_systemd_take_over(outside->passed, fds)
                                : lw_systemd_take(outside->passed);
    if (outside->passed_count < 0)
        return CANNOT_LISTEN;
    if (outside->passed_count > 0 && options->listen_count > 0) {
        lw_log(LW_LOG_WARN,
               "--listen is given: the %d socket(s) of LISTEN_FDS are not"
               " used",
               outside->passed_count);
        while (outside->passed_count > 0)
            close(outside->passed[--outside->passed_count].fd);
    }
    return 0;
}

/* The path that an option names, or the one that follows from the first address; NULL:
 * there is none.  The caller's. */
static char *choose_path(const struct lw_master *master, const char *given,
                         const char *ending)
{
    char path[LW_RUN_PATH];
    if (given)
        return strdup(given);
    if (master->place_count == 0)
        return NULL;
    const char *address = master->places[0].shown;
    if (strncmp(address, "http://", 7) == 0)
        address += 7;
    return lw_run_path_new(path, address, ending) ? strdup(path) : NULL;
}

static uid_t owner_of(const struct lw_outside *outside)
{
    const struct lw_privileges *privileges = &outside->privileges;
    return privileges->is_wanted ? privileges->uid : (uid_t)-1;
}

static int say_no_control(const struct lw_outside *outside, int error, pid_t holder,
                          bool is_given)
{
    if (error == -EADDRINUSE) {
        fprintf(stderr,
                "luaweb: another server (pid %d) runs with the control socket %s: stop"
                " it (luaweb stop), or name another path by --control\n",
                (int)holder, outside->control_path);
        return CANNOT_LISTEN;
    }
    const char *why =
        error == -EEXIST ? "a file lies there that is no socket" : strerror(-error);
    if (is_given) {
        fprintf(stderr, "luaweb: can't make the control socket %s: %s\n",
                outside->control_path, why);
        return CANNOT_LISTEN;
    }
    lw_log(LW_LOG_INFO, "no control socket: %s: %s", outside->control_path, why);
    return 0;
}

static int open_control(struct lw_master *master)
{
    struct lw_outside *outside = &master->outside;
    const char *given = master->options->control;
    pid_t holder;
    if (outside->control_fd >= 0)
        return 0;
    free(outside->control_path);
    outside->control_path = choose_path(master, given, ".sock");
    if (!outside->control_path) {
        lw_log(LW_LOG_INFO, "no control socket: there is no folder for it; --control"
                            " names a path");
        return 0;
    }
    int fd = lw_control_bind(outside->control_path, owner_of(outside), &holder);
    if (fd < 0)
        return say_no_control(outside, fd, holder, given != NULL);
    outside->control_fd = fd;
    return 0;
}

static int open_pid_file(struct lw_master *master)
{
    struct lw_outside *outside = &master->outside;
    const char *given = master->options->pid_file;
    if (outside->pid_path)
        return 0; /* the last master's */
    outside->pid_path = choose_path(master, given, ".pid");
    if (!outside->pid_path)
        return 0;
    int error = outside->privileges.is_wanted
                    ? lw_pid_file_prepare(outside->pid_path, owner_of(outside))
                    : lw_pid_file_check(outside->pid_path);
    if (!error)
        return 0;
    if (given)
        fprintf(stderr, "luaweb: can't write the pid file %s: %s\n", given,
                strerror(-error));
    free(outside->pid_path);
    outside->pid_path = NULL;
    return given ? CANNOT_LISTEN : 0;
}

/* Whether this user may listen where we do. */
static bool is_allowed(const struct lw_master *master)
{
    int *fds = lw_alloc((master->place_count + 1) * sizeof *fds);
    for (uint32_t i = 0; i < master->place_count; i++)
        fds[i] = master->places[i].fds[0];
    bool is_good =
        lw_privileges_allow(&master->outside.privileges, fds, master->place_count);
    free(fds);
    return is_good;
}

static void prepare_log(const struct lw_master *master)
{
    const char *where = master->options->access_log;
    const char *path = where ? lw_access_log_path(where) : "-";
    if (strcmp(path, "-") != 0)
        lw_privileges_prepare_file(&master->outside.privileges, path);
}

/* So that --unix-mode 660 lets in the user's group, not root's. */
static void give_sockets(const struct lw_master *master)
{
    const struct lw_privileges *privileges = &master->outside.privileges;
    for (uint32_t i = 0; i < master->place_count; i++) {
        const struct lw_bound_path *path = &master->places[i].path;
        int error = lw_bound_path_give(path, privileges->uid, privileges->gid);
        if (error)
            lw_log(LW_LOG_WARN, "%s: can't give it to the user: %s", path->path,
                   uv_strerror(error));
    }
}

/* Everything that needs root has been done. */
static int give_up_root(struct lw_master *master)
{
    const struct lw_privileges *privileges = &master->outside.privileges;
    if (privileges->is_wanted) {
        lw_listeners_reserve(master);
        give_sockets(master);
    }
    if (!lw_privileges_drop(privileges))
        return WRONG_USAGE;
    if (privileges->is_wanted
        && !lw_privileges_can_read(privileges, master->options->word))
        return APP_IS_WRONG;
    return 0;
}

int lw_outside_open(struct lw_master *master)
{
    if (!is_allowed(master))
        return WRONG_USAGE;
    int code = open_control(master);
    if (!code)
        code = open_pid_file(master);
    prepare_log(master);
    if (!code)
        code = give_up_root(master);
    return code;
}

void lw_outside_serve(struct lw_master *master)
{
    struct lw_outside *outside = &master->outside;
    struct lw_control_calls calls;
    if (outside->control_fd < 0)
        return;
    lw_calls_fill(&calls, master);
    int error = lw_control_open(&outside->control, &master->loop, outside->control_fd,
                                outside->control_path, &calls);
    outside->control_fd = -1;
    outside->has_control = error == 0;
    if (error)
        lw_log(LW_LOG_ERROR, "no control socket: %s: %s", outside->control_path,
               uv_strerror(error));
}

void lw_outside_close(struct lw_master *master)
{
    struct lw_outside *outside = &master->outside;
    if (outside->pid_path)
        lw_pid_file_remove(outside->pid_path);
    if (outside->has_control)
        lw_control_close(&outside->control, false);
    else if (outside->control_fd >= 0 && master->upgrade.origin < 0)
        unlink(outside->control_path); /* nobody was served there */
    outside->has_control = false;
    lw_systemd_close(&outside->systemd);
    free(outside->pid_path);
    free(outside->control_path);
    free(outside->shown);
    outside->pid_path = outside->control_path = NULL;
    outside->shown = NULL;
}
