/* SPDX-License-Identifier: MIT
 *
 * Password hashes (argon2id), computed by the thread pool so that the loop goes on.
 * Owns copies of the passwords, wiped as soon as they have been hashed.  Bounded in
 * number, and thereby in memory.  RFC 9106. */
#ifndef LW_NET_SECRET_H
#define LW_NET_SECRET_H

#include <stdint.h>

#include "base/abi_secret.h"

struct lw_loop;
struct lw_owner;

/* What computes hashes: a few at a time, more wait for their turn, in order (net/work.h,
 * LW_WORK_HASH). */
struct luaweb_hasher;

/* A hash that is to be made, or verified. */
struct luaweb_hash;

/* The caller owns it until lw_hasher_free. */
struct luaweb_hasher *lw_hasher_new(struct lw_loop *loop, struct lw_owner *owner);

/* The hashes that were begun live on until they are freed. */
void lw_hasher_free(struct luaweb_hasher *hasher);

/* How many hashes it has computed. */
uint64_t lw_hasher_count(const struct luaweb_hasher *hasher);

/* Begins to hash a password of at most LUAWEB_MAX_PASSWORD octets, or, where `text` is
 * not NULL, to verify it against this hash of at most LUAWEB_MAX_HASH.  Copies both;
 * the caller owns the result until lw_hash_free.  NULL: the line is full. */
struct luaweb_hash *lw_hash_begin(struct luaweb_hasher *hasher,
                                  struct luaweb_slice password, const char *text);

/* What is woken when there is a result. */
uint32_t lw_hash_id(const struct luaweb_hash *hash);

/* enum luaweb_hash_result.  Of one that was made, *text is the hash, lent until
 * lw_hash_free. */
int lw_hash_result(const struct luaweb_hash *hash, const char **text);

/* At any time: what is being computed goes on, and nobody is woken. */
void lw_hash_free(struct luaweb_hash *hash);

#endif
