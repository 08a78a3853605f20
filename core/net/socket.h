/* SPDX-License-Identifier: MIT
 *
 * Client ends: streams of octets that Lua opens by number, for tests and for clients.
 * They never parse. */
#ifndef LW_NET_SOCKET_H
#define LW_NET_SOCKET_H

#include <stddef.h>
#include <stdint.h>

struct luaweb_app;
struct lw_loop;
struct lw_upcalls;

/* Joined in memory to a new connection of the app; an id, which is its owner's, or a
 * negative libuv error. */
int lw_socket_memory(struct lw_loop *loop, const struct lw_upcalls *owner,
                     struct luaweb_app *app);

/* To a numeric address and port, or "unix:/path"; an id or a negative libuv error. */
int lw_socket_connect(struct lw_loop *loop, const struct lw_upcalls *owner,
                      const char *address, int port);

/* Results: octets, or enum luaweb_socket_result; the same when the id is not a
 * socket's: LUAWEB_SOCKET_RESET. */
int64_t lw_socket_send(struct lw_loop *loop, uint32_t id, const char *data,
                       size_t size);
int64_t lw_socket_receive(struct lw_loop *loop, uint32_t id, char *data, size_t size);

void lw_socket_finish(struct lw_loop *loop, uint32_t id);
void lw_socket_close(struct lw_loop *loop, uint32_t id);

/* All of an owner. */
void lw_socket_close_all(struct lw_loop *loop, const struct lw_upcalls *owner);

#endif
