/* SPDX-License-Identifier: MIT
 *
 * Listeners: TCP addresses and unix sockets that lead to an app. */
#ifndef LW_NET_LISTEN_H
#define LW_NET_LISTEN_H

struct luaweb_app;
struct lw_loop;

/* Listens at "unix:/path", or at a host (name or address) and port, 0 for any.  Gives
 * the port (0 for unix sockets) or a negative libuv error. */
int lw_listen(struct lw_loop *loop, struct luaweb_app *app, const char *address,
              int port);

/* Closes all listeners; their ports are free at once. */
void lw_listen_stop_all(struct lw_loop *loop);

/* A descriptor was given back: goes on accepting where none was left. */
void lw_listen_resume_all(struct lw_loop *loop);

#endif
