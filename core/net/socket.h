/* SPDX-License-Identifier: MIT
 *
 * Client ends: streams of octets that Lua opens by number, for tests and for clients.
 * They never parse. */
#ifndef LW_NET_SOCKET_H
#define LW_NET_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lw_site;
struct luaweb_tls;
struct lw_loop;
struct lw_tls;
struct lw_owner;

/* Joined in memory to a new connection of the app; an id, which is its owner's, or a
 * negative libuv error. */
int lw_socket_memory(struct lw_loop *loop, struct lw_owner *owner,
                     const struct lw_site *site);

/* To a numeric address and port, or "unix:/path"; an id or a negative libuv error.  When
 * it is connected or has failed, `waker` is woken: the id of another socket of somebody
 * who waits for several, or LW_NO_ID: its own.  It may be sent to at once: what can't go
 * out yet waits. */
int lw_socket_connect(struct lw_loop *loop, struct lw_owner *owner, const char *address,
                      int port, uint32_t waker);

/* 0 connected; 1 not yet; or the negative libuv error that it failed with.  From the
 * first other answer than 1 on, the socket wakes its own id. */
int lw_socket_connected(struct lw_loop *loop, uint32_t id);

/* Secures one that is connected; from then on its octets go through TLS.  0: the
 * handshake is over; 1: it goes on when the socket wakes (lw_socket_handshake); or a
 * negative libuv error. */
int lw_socket_secure(struct lw_loop *loop, uint32_t id,
                     const struct luaweb_tls *options);
int lw_socket_handshake(struct lw_loop *loop, uint32_t id);

/* NULL: there is no such socket, or it is not secured.  Lent until it is closed. */
const struct lw_tls *lw_socket_tls(struct lw_loop *loop, uint32_t id);

/* Results: octets, or enum luaweb_socket_result; the same when the id is not a
 * socket's: LUAWEB_SOCKET_RESET. */
int64_t lw_socket_send(struct lw_loop *loop, uint32_t id, const char *data,
                       size_t size);
int64_t lw_socket_receive(struct lw_loop *loop, uint32_t id, char *data, size_t size);

void lw_socket_finish(struct lw_loop *loop, uint32_t id);
/* With a reset, what was not sent yet is lost, and the other side learns at once that
 * nobody waits for it; without, it may go on for as long as it only sends. */
void lw_socket_close(struct lw_loop *loop, uint32_t id, bool reset);

/* All of an owner. */
void lw_socket_close_all(struct lw_loop *loop, struct lw_owner *owner);

#endif
