/* SPDX-License-Identifier: MIT
 *
 * Giving up root, and making sure that it is gone. */
#include "process/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"

static bool refuse(const char *what, const char *which, const char *why)
{
    fprintf(stderr, "luaweb: %s %s: %s\n", what, which, why);
    return false;
}

/* Reads "33" as the number of a user or group; -1, which means none, is none. */
static bool read_number(const char *text, unsigned *out)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (strspn(text, "0123456789") != strlen(text) || errno || number >= UINT_MAX)
        return false;
    *out = (unsigned)number;
    return end != text;
}

static bool find_user(struct lw_privileges *p, const char *user)
{
    unsigned number;
    bool is_number = read_number(user, &number);
    errno = 0;
    struct passwd *account = is_number ? getpwuid(number) : getpwnam(user);
    if (!account && !is_number)
        return refuse("--user", user, "there is no such user");
    p->uid = account ? account->pw_uid : number;
    p->gid = account ? account->pw_gid : number;
    p->user = user;
    snprintf(p->name, sizeof p->name, "%s", account ? account->pw_name : "");
    return true;
}

static bool find_group(struct lw_privileges *p, const char *group)
{
    unsigned number;
    if (read_number(group, &number)) {
        p->gid = number;
        return true;
    }
    struct group *account = getgrnam(group);
    if (!account)
        return refuse("--group", group, "there is no such group");
    p->gid = account->gr_gid;
    return true;
}

bool lw_privileges_find(struct lw_privileges *privileges, const char *user,
                        const char *group)
{
    *privileges = (struct lw_privileges){
        .is_wanted = user || group,
        .uid = geteuid(),
        .gid = getegid(),
    };
    if (user && !find_user(privileges, user))
        return false;
    if (group && !find_group(privileges, group))
        return false;
    if (geteuid() == 0)
        return true;
    if (privileges->uid != geteuid())
        return refuse("--user", user, "only root can become another user");
    if (group && privileges->gid != getegid())
        return refuse("--group", group, "only root can become another group");
    privileges->is_wanted = false; /* we are it already */
    return true;
}

/* Where only processes of this machine reach it. */
static bool is_local(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return false;
    if (address.ss_family == AF_UNIX)
        return true;
    if (address.ss_family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)&address;
        return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    struct sockaddr_in6 *in = (struct sockaddr_in6 *)&address;
    return address.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
}

bool lw_privileges_allow(const struct lw_privileges *privileges, const int *listeners,
                         size_t count)
{
    if (geteuid() != 0 || (privileges->user && privileges->uid != 0))
        return true;
    bool is_insisting = privileges->user != NULL; /* --user root */
    for (size_t i = 0; i < count && !is_insisting; i++) {
        if (is_local(listeners[i]))
            continue;
        fputs("luaweb: this is root, and others can reach it: a fault of the app would"
              " be theirs as root.  Give --user and a user who may read the app, e.g."
              " --user www-data; or listen on 127.0.0.1 only\n",
              stderr);
        return false;
    }
    lw_log(LW_LOG_WARN, "serving as root: a fault of the app is a fault of root; give"
                        " --user and a user who may read the app, e.g. www-data");
    return true;
}

void lw_privileges_prepare_file(const struct lw_privileges *privileges,
                                const char *path)
{
    if (geteuid() != 0 || !privileges->is_wanted)
        return;
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = open(path, flags, 0640);
    if (fd < 0)
        return;
    if (fchown(fd, privileges->uid, privileges->gid) != 0)
        lw_log(LW_LOG_WARN, "%s: can't give it to the user: %s", path, strerror(errno));
    close(fd);
}

static bool say_kept(const char *what)
{
    fprintf(stderr, "luaweb: can't give up privileges: %s: %s\n", what,
            strerror(errno));
    return false;
}

static bool become(const struct lw_privileges *p)
{
    int error = p->name[0] ? initgroups(p->name, p->gid) : setgroups(0, NULL);
    if (error != 0)
        return say_kept("the groups stay");
    if (setresgid(p->gid, p->gid, p->gid) != 0)
        return say_kept("the group stays");
    if (setresuid(p->uid, p->uid, p->uid) != 0)
        return say_kept("the user stays");
    return true;
}

/* Trusts no return value of above: nothing may be left, and nothing may come back. */
static bool is_done(const struct lw_privileges *p)
{
    uid_t uid[3];
    gid_t gid[3];
    if (getresuid(&uid[0], &uid[1], &uid[2]) != 0
        || getresgid(&gid[0], &gid[1], &gid[2]) != 0)
        return false;
    for (int i = 0; i < 3; i++)
        if (uid[i] != p->uid || gid[i] != p->gid)
            return false;
    return p->uid == 0 || (setuid(0) != 0 && seteuid(0) != 0);
}

bool lw_privileges_drop(const struct lw_privileges *privileges)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return say_kept("no_new_privs is refused");
    if (!privileges->is_wanted)
        return true;
    if (!become(privileges))
        return false;
    errno = EPERM;
    if (!is_done(privileges))
        return say_kept("what root had is still there");
    prctl(PR_SET_DUMPABLE, 1, 0, 0,
          0); /* a crash may leave a core, as without --user */
    return true;
}

bool lw_privileges_can_read(const struct lw_privileges *privileges, const char *path)
{
    if (access(path, R_OK) == 0 || errno != EACCES)
        return true; /* what else is wrong with it, loading tells better */
    if (privileges->user)
        fprintf(stderr,
                "luaweb: %s: user %s may not read it: it and the folders above it must"
                " let that user in (chmod, chgrp)\n",
                path, privileges->user);
    else
        fprintf(stderr, "luaweb: %s: permission denied for this user (%d)\n", path,
                (int)geteuid());
    return false;
}
