/* SPDX-License-Identifier: MIT
 *
 * Password hashes, as work on the thread pool.  RFC 9106 §4; libsodium's limits
 * INTERACTIVE (two passes over 64 MiB), which are made for what somebody waits for. */
#include "net/secret.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "net/loop.h"
#include "net/work.h"

struct luaweb_hasher {
    struct lw_loop *loop;
    struct lw_owner *owner; /* held until it has freed its hashes */
    uint32_t holders;       /* its owner, and every hash */
    uint64_t count;
};

struct luaweb_hash {
    struct lw_work work;          /* first: it is the hash */
    struct luaweb_hasher *hasher; /* held */
    uint32_t id;
    bool is_freed; /* while it ran */
    bool verifies;
    int result; /* enum luaweb_hash_result */
    char text[LUAWEB_MAX_HASH + 1];
    size_t size;
    char password[]; /* `size` octets, not NUL-terminated */
};

static_assert(LUAWEB_MAX_HASH + 1 >= crypto_pwhash_STRBYTES, "a made hash fits");

struct luaweb_hasher *lw_hasher_new(struct lw_loop *loop, struct lw_owner *owner)
{
    lw_require(sodium_init() >= 0);
    struct luaweb_hasher *hasher = lw_alloc(sizeof *hasher);
    *hasher = (struct luaweb_hasher){.loop = loop, .owner = owner, .holders = 1};
    return hasher;
}

void lw_hasher_free(struct luaweb_hasher *hasher)
{
    if (--hasher->holders == 0)
        free(hasher);
}

uint64_t lw_hasher_count(const struct luaweb_hasher *hasher)
{
    return hasher->count;
}

static void destroy(struct luaweb_hash *hash)
{
    lw_loop_drop_id(hash->hasher->loop, hash->id);
    lw_hasher_free(hash->hasher);
    sodium_memzero(hash->password, hash->size);
    free(hash);
}

static int make(struct luaweb_hash *hash)
{
    int failed = crypto_pwhash_str_alg(
        hash->text, hash->password, hash->size, crypto_pwhash_OPSLIMIT_INTERACTIVE,
        crypto_pwhash_MEMLIMIT_INTERACTIVE, crypto_pwhash_ALG_ARGON2ID13);
    return failed ? LUAWEB_HASH_FAILED : LUAWEB_HASH_DONE;
}

/* libsodium tells another password from a damaged hash by errno alone; a lack of memory
 * is another password to its version 1.0.18: refused, at least. */
static int verify(const struct luaweb_hash *hash)
{
    errno = 0;
    if (crypto_pwhash_str_verify(hash->text, hash->password, hash->size) == 0)
        return LUAWEB_HASH_DONE;
    return errno == EINVAL ? LUAWEB_HASH_OTHER : LUAWEB_HASH_FAILED;
}

static void compute(struct lw_work *work)
{
    struct luaweb_hash *hash = (struct luaweb_hash *)work;
    hash->result = hash->verifies ? verify(hash) : make(hash);
    sodium_memzero(hash->password, hash->size);
}

static void on_computed(struct lw_work *work)
{
    struct luaweb_hash *hash = (struct luaweb_hash *)work;
    hash->hasher->count++;
    if (hash->is_freed)
        destroy(hash);
    else
        lw_loop_wake(hash->hasher->loop, hash->id);
}

struct luaweb_hash *lw_hash_begin(struct luaweb_hasher *hasher,
                                  struct luaweb_slice password, const char *text)
{
    lw_require(password.size <= LUAWEB_MAX_PASSWORD);
    struct luaweb_hash *hash = lw_alloc(sizeof *hash + password.size);
    memset(hash, 0, sizeof *hash);
    hash->work.run = compute;
    hash->work.done = on_computed;
    hash->hasher = hasher;
    hasher->holders++;
    hash->id = lw_loop_add_id(hasher->loop, hasher->owner, LW_ID_HASH, hash);
    hash->result = LUAWEB_HASH_WAIT;
    hash->verifies = text != NULL;
    if (text) {
        lw_require(strlen(text) <= LUAWEB_MAX_HASH);
        memcpy(hash->text, text, strlen(text) + 1);
    }
    hash->size = password.size;
    if (password.size > 0)
        memcpy(hash->password, password.data, password.size);
    if (lw_work_start(hasher->loop, &hash->work, LW_WORK_HASH))
        return hash;
    destroy(hash);
    return NULL;
}

uint32_t lw_hash_id(const struct luaweb_hash *hash)
{
    return hash->id;
}

int lw_hash_result(const struct luaweb_hash *hash, const char **text)
{
    if (hash->work.state != LW_WORK_IDLE)
        return LUAWEB_HASH_WAIT;
    *text = hash->text;
    return hash->result;
}

void lw_hash_free(struct luaweb_hash *hash)
{
    if (hash->work.state == LW_WORK_RUNNING) {
        hash->is_freed = true;
        return;
    }
    lw_work_cancel(&hash->work);
    destroy(hash);
}
