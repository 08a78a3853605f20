/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the Authorization field.  The parts lie in the input one behind the other; a
 * token that decodes is the only text that encodes what came out: encoded again, it is
 * the same.  RFC 9110 §11.4, RFC 7617 §2, RFC 4648 §3.5. */
#include <stdlib.h>

#include "base/require.h"
#include "http/authorization.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The octets of `data` from `at` on, at most three, as a group of four. */
static void encode_group(const char *data, size_t size, size_t at, char group[4])
{
    size_t count = size - at < 3 ? size - at : 3;
    uint32_t bits = 0;
    for (size_t i = 0; i < 3; i++)
        bits = bits << 8 | (i < count ? (unsigned char)data[at + i] : 0);
    for (size_t i = 0; i < 4; i++)
        group[i] = i <= count ? alphabet[bits >> (18 - 6 * i) & 63] : '=';
}

static void check_text(struct luaweb_slice user, struct luaweb_slice password,
                       struct luaweb_slice token)
{
    size_t size = user.size + 1 + password.size;
    lw_require(password.data == user.data + user.size + 1);
    lw_require(user.data[user.size] == ':');
    lw_require(user.size == 0 || !memchr(user.data, ':', user.size));
    lw_require(token.size == (size + 2) / 3 * 4);
    for (size_t at = 0; at < size; at += 3) {
        char group[4];
        encode_group(user.data, size, at, group);
        lw_require(memcmp(group, token.data + at / 3 * 4, 4) == 0);
    }
    for (size_t i = 0; i < size; i++)
        lw_require((unsigned char)user.data[i] >= ' ' && user.data[i] != 127);
}

static void check_basic(struct luaweb_slice token)
{
    struct luaweb_field credentials;
    char *out = lw_alloc(token.size);
    if (lw_authorization_basic(token, out, &credentials)) {
        lw_require(credentials.name.data == out);
        check_text(credentials.name, credentials.value, token);
    }
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct luaweb_slice text = {(const char *)data, size};
    struct lw_authorization found;
    if (!lw_authorization_parse(text, &found)) {
        check_basic(text); /* any text at all */
        return 0;
    }
    const char *behind = found.scheme.data + found.scheme.size;
    lw_require(found.scheme.data >= text.data && found.scheme.size > 0);
    lw_require(found.rest.size == 0 || found.rest.data > behind);
    lw_require(found.rest.data + found.rest.size <= text.data + size);
    for (const char *space = behind; space < found.rest.data; space++)
        lw_require(*space == ' ');
    lw_require(lw_slice_trim(found.rest).size == found.rest.size
               || found.rest.data[0] == '\t');
    check_basic(found.rest);
    return 0;
}
