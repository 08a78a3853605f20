/* SPDX-License-Identifier: MIT
 *
 * Octets, and at most one descriptor with them, through a pair of unix sockets that keep
 * the borders of messages (SOCK_SEQPACKET). */
#ifndef LW_NET_PASSING_H
#define LW_NET_PASSING_H

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Both ends of a new pair, not blocking, closed on exec.  0 or a negative errno. */
int lw_passing_open(int ends[2]);

/* Sends a message and, where fd >= 0, a descriptor, which stays the caller's.  0, or a
 * negative errno: -EAGAIN when the other side does not read. */
int lw_passing_send(int end, const struct iovec *parts, size_t count, int fd);

/* Receives one: its octets; 0: the other side is gone; or a negative errno, -EAGAIN when
 * there is none yet.  *fd is -1, also where the system had no descriptor left for it, or
 * one, closed on exec, that is the caller's from now on. */
ssize_t lw_passing_receive(int end, struct iovec *parts, size_t count, int *fd);

#endif
