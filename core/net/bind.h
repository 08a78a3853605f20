/* SPDX-License-Identifier: MIT
 *
 * Listening sockets: TCP addresses and unix sockets, which nobody accepts from yet. */
#ifndef LW_NET_BIND_H
#define LW_NET_BIND_H

#include <sys/stat.h>

/* The path of a unix socket, as we made it. */
struct lw_bound_path {
    char *path; /* owned; NULL: none */
    dev_t device;
    ino_t inode;
};

/* Binds and listens at "unix:/path", or at a host (name or address) and port, 0 for any.
 * Gives a descriptor, the caller's and closed on exec, or a negative libuv error.  The
 * path of a unix socket is noted in `path`, which was empty. */
int lw_bind(const char *address, int port, struct lw_bound_path *path);

/* Another socket at the TCP address of a listening one: the system spreads new
 * connections over both (SO_REUSEPORT).  A descriptor or a negative libuv error. */
int lw_bind_beside(int fd);

/* The port of a socket, 0 for a unix socket, or a negative libuv error. */
int lw_bind_port(int fd);

/* Notes whose socket lies at the path now. */
void lw_bound_path_note(struct lw_bound_path *bound, const char *path);

/* Removes the socket, unless somebody else has put one of theirs there, and forgets it. */
void lw_bound_path_remove(struct lw_bound_path *bound);

/* Leaves it to somebody else. */
void lw_bound_path_forget(struct lw_bound_path *bound);

#endif
