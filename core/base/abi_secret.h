/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua: secrets and digests.  For the rules, see abi.h.
 */

#ifndef LW_BASE_ABI_SECRET_H
#define LW_BASE_ABI_SECRET_H

#include "base/abi.h"

/* Secrets.  A hasher computes password hashes (argon2id) in the thread pool, a few at a
 * time, and more wait in a line of bounded length.  Lua owns it and each hash that it
 * begins until it frees them, in any order and at any time. */
enum luaweb_secret_limit { /* in octets */
    LUAWEB_MAX_PASSWORD = 4096,
    LUAWEB_MAX_HASH = 255,    /* of a hash as text */
    LUAWEB_MAX_RANDOM = 1024, /* of a random token, before it is text */
    LUAWEB_RANDOM_ROOM = 1368 /* for it as text with a NUL */
};
enum luaweb_hash_result {
    LUAWEB_HASH_WAIT,  /* wait for the wake of its id, then ask again */
    LUAWEB_HASH_DONE,  /* the hash is made; or it is of this password */
    LUAWEB_HASH_OTHER, /* the hash is of another password */
    LUAWEB_HASH_FAILED /* no memory for it, or the text is no hash */
};
struct luaweb_hasher;
struct luaweb_hash;
struct luaweb_hasher *luaweb_hasher_new(struct luaweb_host *host);
void luaweb_hasher_free(struct luaweb_host *host, struct luaweb_hasher *hasher);
double luaweb_hasher_count(struct luaweb_host *host,
                           const struct luaweb_hasher *hasher); /* computed so far */

/* Begins to hash a password, or to verify it where `text` (else NULL) is a hash.  NULL:
 * too many wait.  The text of a hash that was made is lent until it is freed. */
struct luaweb_hash *luaweb_hash_begin(struct luaweb_host *host,
                                      struct luaweb_hasher *hasher,
                                      const char *password, size_t size,
                                      const char *text);
uint32_t luaweb_hash_id(struct luaweb_host *host, const struct luaweb_hash *hash);
int luaweb_hash_result(struct luaweb_host *host, const struct luaweb_hash *hash,
                       const char **text);
void luaweb_hash_free(struct luaweb_host *host, struct luaweb_hash *hash);

/* Whether the octets are equal; the time tells nothing of them but whether their
 * lengths are. */
bool luaweb_equal(struct luaweb_host *host, const char *a, size_t a_size, const char *b,
                  size_t b_size);

/* So many random octets, at most LUAWEB_MAX_RANDOM, as base64url text without padding;
 * `text` has LUAWEB_RANDOM_ROOM octets. */
void luaweb_random(struct luaweb_host *host, size_t size, char *text);

/* A digest of 128 bits (SipHash) as base64url text, 22 octets and a NUL, the same in
 * every process: it tells contents apart, and hides nothing. */
void luaweb_digest(struct luaweb_host *host, const char *data, size_t size,
                   char text[32]);

/* A digest of 128 bits (BLAKE2b) as base64url text: 22 octets and a NUL.  A key has 16
 * to 64 octets: without it, nobody else can make the same digest. */
void luaweb_keyed_digest(struct luaweb_host *host, const char *key, size_t key_size,
                         const char *data, size_t size, char text[32]);

/* Takes the Authorization line of a request apart: the scheme is the name, what follows
 * the value; lent until the request ends.  Then user and password of a Basic token,
 * lent until the next call; false: it has none (RFC 7617 2). */
enum luaweb_credentials {
    LUAWEB_CREDENTIALS_NONE,  /* no line, several, or one that is no such thing */
    LUAWEB_CREDENTIALS_TOKEN, /* the scheme and a token (token68, RFC 9110 11.2) */
    LUAWEB_CREDENTIALS_OTHER  /* the scheme alone, or with something else */
};
int luaweb_credentials(struct luaweb_host *host, const struct luaweb_request *request,
                       struct luaweb_field *found);
bool luaweb_basic(struct luaweb_host *host, const char *token, size_t size,
                  struct luaweb_field *credentials);

#endif
