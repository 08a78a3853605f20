/* SPDX-License-Identifier: MIT
 *
 * Password hashes on uv_queue_work.  The pool's own queue is not used as the line: it
 * has as many workers as the pool has threads, and each hash takes 64 MiB and a thread
 * that files and logs want, too.  RFC 9106 §4; libsodium's limits INTERACTIVE (two
 * passes over 64 MiB), which are made for what somebody waits for. */
#include "net/secret.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "net/loop.h"

#define LW_HASHES_AT_ONCE 2  /* 128 MiB; half of the pool's usual four threads */
#define LW_HASHES_IN_LINE 32 /* the last one waits for a second or two */

enum hash_state {
    IN_LINE,
    RUNNING,
    ENDED
};

struct luaweb_hasher {
    struct lw_loop *loop;
    const struct lw_upcalls *owner; /* held until it has freed its hashes */
    struct luaweb_hash *first;      /* of those in line */
    uint32_t in_line;
    uint32_t running;
    uint32_t holders; /* its owner, and every hash */
    uint64_t count;
};

struct luaweb_hash {
    uv_work_t work;
    struct luaweb_hasher *hasher; /* held */
    struct luaweb_hash *next;
    uint32_t id;
    enum hash_state state;
    bool is_freed; /* while it ran */
    bool verifies;
    int result; /* enum luaweb_hash_result */
    char text[LUAWEB_MAX_HASH + 1];
    size_t size;
    char password[]; /* `size` octets, not NUL-terminated */
};

static_assert(LUAWEB_MAX_HASH + 1 >= crypto_pwhash_STRBYTES, "a made hash fits");

struct luaweb_hasher *lw_hasher_new(struct lw_loop *loop,
                                    const struct lw_upcalls *owner)
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

/* In a thread of the pool. */
static void compute(uv_work_t *work)
{
    struct luaweb_hash *hash = work->data;
    hash->result = hash->verifies ? verify(hash) : make(hash);
    sodium_memzero(hash->password, hash->size);
}

static void run_next(struct luaweb_hasher *hasher);

static void on_computed(uv_work_t *work, int status)
{
    struct luaweb_hash *hash = work->data;
    struct luaweb_hasher *hasher = hash->hasher;
    (void)status; /* nothing is ever cancelled */
    hash->state = ENDED;
    hasher->running--;
    hasher->count++;
    run_next(hasher);
    if (hash->is_freed)
        destroy(hash);
    else
        lw_loop_wake(hasher->loop, hash->id);
}

/* A loop that is being closed waits for what runs; nobody asks for the others. */
static bool is_closing(const struct lw_loop *loop)
{
    return uv_is_closing((const uv_handle_t *)&loop->prepare);
}

static void run_next(struct luaweb_hasher *hasher)
{
    struct luaweb_hash *hash = hasher->first;
    if (!hash || hasher->running == LW_HASHES_AT_ONCE || is_closing(hasher->loop))
        return;
    hasher->first = hash->next;
    hasher->in_line--;
    hasher->running++;
    hash->state = RUNNING;
    lw_require(uv_queue_work(&hasher->loop->uv, &hash->work, compute, on_computed)
               == 0);
}

static void join_line(struct luaweb_hasher *hasher, struct luaweb_hash *hash)
{
    struct luaweb_hash **end = &hasher->first;
    while (*end)
        end = &(*end)->next;
    *end = hash;
    hasher->in_line++;
}

static void leave_line(struct luaweb_hasher *hasher, struct luaweb_hash *hash)
{
    struct luaweb_hash **link = &hasher->first;
    while (*link != hash)
        link = &(*link)->next;
    *link = hash->next;
    hasher->in_line--;
}

struct luaweb_hash *lw_hash_begin(struct luaweb_hasher *hasher,
                                  struct luaweb_slice password, const char *text)
{
    lw_require(password.size <= LUAWEB_MAX_PASSWORD);
    if (hasher->in_line == LW_HASHES_IN_LINE)
        return NULL;
    struct luaweb_hash *hash = lw_alloc(sizeof *hash + password.size);
    memset(hash, 0, sizeof *hash);
    hash->work.data = hash;
    hash->hasher = hasher;
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
    hasher->holders++;
    join_line(hasher, hash);
    run_next(hasher);
    return hash;
}

uint32_t lw_hash_id(const struct luaweb_hash *hash)
{
    return hash->id;
}

int lw_hash_result(const struct luaweb_hash *hash, const char **text)
{
    if (hash->state != ENDED)
        return LUAWEB_HASH_WAIT;
    *text = hash->text;
    return hash->result;
}

void lw_hash_free(struct luaweb_hash *hash)
{
    if (hash->state == RUNNING) {
        hash->is_freed = true;
        return;
    }
    if (hash->state == IN_LINE)
        leave_line(hash->hasher, hash);
    destroy(hash);
}
