/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions by which Lua keeps secrets (base/abi_secret.h): for
 * the rules, see abi.c. */
#include <assert.h>
#include <sodium.h>

#include "base/abi_secret.h"
#include "base/require.h"
#include "base/slice.h"
#include "host/vm.h"
#include "http/authorization.h"
#include "http/fields.h"
#include "net/secret.h"

#define EXPORT __attribute__((visibility("default")))

#define DIGEST_SIZE 16 /* octets: 128 bits */
#define DIGEST_ROOM 32 /* of its text */
#define TO_BASE64   sodium_base64_VARIANT_URLSAFE_NO_PADDING

static_assert(sodium_base64_ENCODED_LEN(DIGEST_SIZE, TO_BASE64) <= DIGEST_ROOM,
              "a digest fits");
static_assert(sodium_base64_ENCODED_LEN(LUAWEB_MAX_RANDOM, TO_BASE64)
                  <= LUAWEB_RANDOM_ROOM,
              "a random token fits");

EXPORT struct luaweb_hasher *luaweb_hasher_new(struct luaweb_host *host)
{
    return lw_hasher_new(host->loop, &host->owner);
}

EXPORT void luaweb_hasher_free(struct luaweb_host *host, struct luaweb_hasher *hasher)
{
    (void)host;
    lw_hasher_free(hasher);
}

EXPORT double luaweb_hasher_count(struct luaweb_host *host,
                                  const struct luaweb_hasher *hasher)
{
    (void)host;
    return (double)lw_hasher_count(hasher);
}

EXPORT struct luaweb_hash *luaweb_hash_begin(struct luaweb_host *host,
                                             struct luaweb_hasher *hasher,
                                             const char *password, size_t size,
                                             const char *text)
{
    (void)host;
    return lw_hash_begin(hasher, lw_slice(password, size), text);
}

EXPORT uint32_t luaweb_hash_id(struct luaweb_host *host, const struct luaweb_hash *hash)
{
    (void)host;
    return lw_hash_id(hash);
}

EXPORT int luaweb_hash_result(struct luaweb_host *host, const struct luaweb_hash *hash,
                              const char **text)
{
    (void)host;
    return lw_hash_result(hash, text);
}

EXPORT void luaweb_hash_free(struct luaweb_host *host, struct luaweb_hash *hash)
{
    (void)host;
    lw_hash_free(hash);
}

/* The length is no secret: neither is that of a token, nor that of a digest. */
EXPORT bool luaweb_equal(struct luaweb_host *host, const char *a, size_t a_size,
                         const char *b, size_t b_size)
{
    (void)host;
    return a_size == b_size && sodium_memcmp(a, b, a_size) == 0;
}

EXPORT void luaweb_random(struct luaweb_host *host, size_t size, char *text)
{
    unsigned char octets[LUAWEB_MAX_RANDOM];
    (void)host;
    lw_require(size <= sizeof octets && sodium_init() >= 0);
    randombytes_buf(octets, size);
    sodium_bin2base64(text, LUAWEB_RANDOM_ROOM, octets, size, TO_BASE64);
    sodium_memzero(octets, size);
}

EXPORT void luaweb_keyed_digest(struct luaweb_host *host, const char *key,
                                size_t key_size, const char *data, size_t size,
                                char text[32])
{
    unsigned char octets[DIGEST_SIZE];
    (void)host;
    lw_require(sodium_init() >= 0);
    int failed = crypto_generichash(octets, sizeof octets, (const unsigned char *)data,
                                    size, (const unsigned char *)key, key_size);
    lw_require(!failed); /* the key is too short or too long */
    sodium_bin2base64(text, DIGEST_ROOM, octets, sizeof octets, TO_BASE64);
}

/* As sodium_bin2base64, but not in constant time, since there is nothing to hide. */
static void write_base64(char text[DIGEST_ROOM],
                         const unsigned char octets[DIGEST_SIZE])
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    uint32_t count = 0;
    char *at = text;
    for (size_t i = 0; i < DIGEST_SIZE; i++) {
        bits = bits << 8 | octets[i];
        for (count += 8; count >= 6; count -= 6)
            *at++ = digits[bits >> (count - 6) & 63];
    }
    *at++ = digits[bits << (6 - count) & 63];
    *at = 0;
}

static_assert(crypto_shorthash_siphashx24_BYTES == DIGEST_SIZE, "a digest fits");

EXPORT void luaweb_digest(struct luaweb_host *host, const char *data, size_t size,
                          char text[32])
{
    static const unsigned char key[crypto_shorthash_siphashx24_KEYBYTES] = "luaweb";
    unsigned char octets[DIGEST_SIZE];
    (void)host;
    crypto_shorthash_siphashx24(octets, (const unsigned char *)data, size, key);
    write_base64(text, octets);
}

EXPORT int luaweb_credentials(struct luaweb_host *host,
                              const struct luaweb_request *request,
                              struct luaweb_field *found)
{
    (void)host;
    struct lw_authorization authorization;
    const struct luaweb_field *line =
        lw_fields_only(request->headers, LW_HAS_AUTHORIZATION);
    if (!line || !lw_authorization_parse(line->value, &authorization))
        return LUAWEB_CREDENTIALS_NONE;
    found->name = authorization.scheme;
    found->value = authorization.rest;
    return authorization.is_token ? LUAWEB_CREDENTIALS_TOKEN : LUAWEB_CREDENTIALS_OTHER;
}

EXPORT bool luaweb_basic(struct luaweb_host *host, const char *token, size_t size,
                         struct luaweb_field *credentials)
{
    return lw_authorization_basic(lw_slice(token, size), lw_host_scratch(host, size),
                                  credentials);
}
