/* SPDX-License-Identifier: MIT
 *
 * Listeners: TCP addresses and unix sockets that lead to an app. */
#ifndef LW_NET_LISTEN_H
#define LW_NET_LISTEN_H

#include <stdint.h>

struct lw_loop;
struct lw_site;

/* Listens at "unix:/path", or at a host (name or address) and port, 0 for any.  Gives
 * the port (0 for unix sockets) or a negative libuv error.  The site is held. */
int lw_listen(struct lw_loop *loop, const struct lw_site *site, const char *address,
              int port);

/* A listening descriptor that somebody else has bound. */
struct lw_adopted {
    int fd;
    uint32_t listener; /* with `slot`: its name */
    uint32_t slot;
    int most; /* connections to accept in a turn; 0: as many as is good */
};

/* Accepts from it, too, and owns it.  0, or a libuv error and it is closed. */
int lw_listen_adopt(struct lw_loop *loop, const struct lw_site *site,
                    const struct lw_adopted *adopted);

/* No longer accepts from one of these. */
void lw_listen_cease(struct lw_loop *loop, uint32_t listener, uint32_t slot);

/* Closes all listeners; their ports are free at once. */
void lw_listen_stop_all(struct lw_loop *loop);

/* A descriptor was given back: goes on accepting where none was left. */
void lw_listen_resume_all(struct lw_loop *loop);

#endif
