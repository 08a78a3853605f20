/* SPDX-License-Identifier: MIT
 *
 * Listening sockets: TCP addresses and unix sockets, which nobody accepts from yet. */
#ifndef LW_NET_BIND_H
#define LW_NET_BIND_H

#include <stdint.h>
#include <sys/stat.h>

/* The path of a unix socket, as we made it. */
struct lw_bound_path {
    char *path; /* owned; NULL: none */
    dev_t device;
    ino_t inode;
};

#define LW_MAX_ADDRESSES \
    16 /* of a name, at which a server listens; more are left out */

/* What listens for one address or name: descriptors, the caller's and closed on
 * exec. */
struct lw_bound {
    int fds[LW_MAX_ADDRESSES]; /* the first is there */
    uint32_t count;
    struct lw_bound_path path; /* of a unix socket */
};

/* Binds and listens at "unix:/path", or at a host and port, 0 for any.  A host is an
 * address, with its zone where it is of one link only ("fe80::1%eth0"), or a name: then
 * all its addresses are listened at, with one port, but for those that this machine
 * does not have; "localhost" is 127.0.0.1 and ::1.  `unix_mode`: who may connect to a
 * unix socket, whatever the umask; 0: its owner.  0, or a negative libuv error and
 * nothing is bound. */
int lw_bind(const char *address, int port, uint32_t unix_mode, struct lw_bound *bound);

/* Another socket at the TCP address of a listening one: the system spreads new
 * connections over both (SO_REUSEPORT).  A descriptor or a negative libuv error. */
int lw_bind_beside(int fd);

/* The same in two steps: a socket that is bound, but does not listen, so that no
 * connection comes to it; and, perhaps as another user, one that listens.  The second
 * takes the descriptor, and gives errors on. */
int lw_bind_reserve(int fd);
int lw_bind_listen(int fd);

/* Sets for a socket that somebody else has opened what ours have: no delay, and
 * keep-alive. */
void lw_bind_adopt(int fd);

/* The port of a socket, 0 for a unix socket, or a negative libuv error. */
int lw_bind_port(int fd);

/* Notes whose socket lies at the path now. */
void lw_bound_path_note(struct lw_bound_path *bound, const char *path);

/* Removes the socket, unless somebody else has put one of theirs there, and forgets
 * it. */
void lw_bound_path_remove(struct lw_bound_path *bound);

/* Gives the socket's file to a user and group, unless somebody else has put one of
 * theirs there.  0 or a negative libuv error. */
int lw_bound_path_give(const struct lw_bound_path *bound, uid_t uid, gid_t gid);

/* Leaves it to somebody else. */
void lw_bound_path_forget(struct lw_bound_path *bound);

#endif
