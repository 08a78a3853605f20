/* SPDX-License-Identifier: MIT
 *
 * Who the server is: root only as long as it binds and opens, then the user of --user.
 * After that nothing brings privileges back, neither for the master nor for the workers
 * that it starts; a reload or an upgrade can't bind a port below 1024 either. */
#ifndef LW_PROCESS_PRIVILEGES_H
#define LW_PROCESS_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct lw_privileges {
    bool is_wanted; /* there is something to give up */
    uid_t uid;      /* whom we become; who we are where none is given */
    gid_t gid;
    const char *user; /* as it was given, borrowed; NULL: none */
    char name[64];    /* of the account of `uid`; empty: it has none */
};

/* Looks up --user and --group (names or numbers, NULL: not given).  false: there is no
 * such account, or only root could become it; the message was printed (exit 2). */
bool lw_privileges_find(struct lw_privileges *privileges, const char *user,
                        const char *group);

/* Root without --user: warns when all of these listening descriptors are for this
 * machine only (loopback, unix sockets), else prints why it refuses.  false: exit 2. */
bool lw_privileges_allow(const struct lw_privileges *privileges, const int *listeners,
                         size_t count);

/* Makes a file of ours, e.g. a log, for that user, where there is none yet.  One that
 * is there keeps its owner: its name may be a link that somebody else has made. */
void lw_privileges_prepare_file(const struct lw_privileges *privileges,
                                const char *path);

/* Becomes that user for good, in this process and its children, and takes care that no
 * program started from now on gains privileges (no_new_privs).  false: the message was
 * printed (exit 2), and this process must end. */
bool lw_privileges_drop(const struct lw_privileges *privileges);

/* Whether this file can be read now; false: the message was printed (exit 1). */
bool lw_privileges_can_read(const struct lw_privileges *privileges, const char *path);

#endif
