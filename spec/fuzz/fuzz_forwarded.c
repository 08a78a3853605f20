/* SPDX-License-Identifier: MIT
 *
 * Fuzzes what proxies say of a client.  The input has a field a line; its first octet
 * says which.  Whatever stands there, it can't change what a trusted proxy adds behind
 * it; what is told is of the form that it should have; faults tell nothing.
 * RFC 7239. */
#include <stdlib.h>

#include "base/require.h"
#include "http/forwarded.h"
#include "http/target.h"

#define MAX_LINES 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* clang-format off */
static const struct luaweb_slice names[] = {
    {"Forwarded",         sizeof("Forwarded") - 1},
    {"X-Forwarded-For",   sizeof("X-Forwarded-For") - 1},
    {"X-Forwarded-Proto", sizeof("X-Forwarded-Proto") - 1},
    {"X-Forwarded-Host",  sizeof("X-Forwarded-Host") - 1},
};
/* clang-format on */

struct input {
    struct luaweb_field fields[MAX_LINES + 1]; /* values owned */
    uint32_t count;
    uint32_t counts[4]; /* of each field */
};

static struct luaweb_slice copy_of(struct luaweb_slice text)
{
    char *data = lw_alloc(text.size + !text.size);
    if (text.size > 0)
        memcpy(data, text.data, text.size);
    return lw_slice(data, text.size);
}

static void read_input(struct luaweb_slice rest, struct input *input)
{
    while (rest.size > 0 && input->count < MAX_LINES) {
        const char *feed = memchr(rest.data, '\n', rest.size);
        size_t size = feed ? (size_t)(feed - rest.data) : rest.size;
        if (size > 0) {
            uint32_t which = (uint32_t)rest.data[0] & 3;
            struct luaweb_slice value = lw_slice(rest.data + 1, size - 1);
            input->counts[which]++;
            input->fields[input->count++] =
                (struct luaweb_field){names[which], copy_of(value)};
        }
        lw_slice_skip(&rest, feed ? size + 1 : size);
    }
}

static int run(const struct input *input, struct lw_arena *arena,
               struct lw_forwarded *found)
{
    struct lw_networks trusted = {.count = 0};
    const char *why = NULL;
    lw_require(lw_networks_add(&trusted, LW_SLICE("10.0.0.0/8")));
    lw_require(lw_networks_add(&trusted, LW_SLICE("fd00::/8")));
    int result = lw_forwarded_read((struct luaweb_fields){input->fields, input->count},
                                   &trusted, arena, found, &why);
    lw_require(result == 0 || result == -1 || result == 400);
    lw_require((result == 0) == (why == NULL));
    return result;
}

static void check(const struct input *input)
{
    struct lw_arena arena;
    struct lw_forwarded found;
    struct lw_peer peer;
    lw_arena_construct(&arena);
    int result = run(input, &arena, &found);
    if (result != 0)
        lw_require(!found.peer.size && !found.scheme.size && !found.host.size);
    if (found.peer.size > 0)
        lw_require(lw_peer_read(found.peer, &peer) || found.peer.data[0] == '_'
                   || lw_slice_equal(found.peer, LW_SLICE("unknown")));
    if (found.scheme.size > 0)
        lw_require(lw_slice_equal(found.scheme, LW_SLICE("http"))
                   || lw_slice_equal(found.scheme, LW_SLICE("https")));
    if (found.host.size > 0)
        lw_require(lw_authority_valid(found.host));
    lw_arena_destruct(&arena);
}

/* Behind what anybody wrote, a trusted proxy says that its client is 192.0.2.77. */
static void check_last_word(struct input *input, uint32_t which,
                            struct luaweb_slice text)
{
    struct lw_arena arena;
    struct lw_forwarded found;
    lw_arena_construct(&arena);
    input->fields[input->count++] = (struct luaweb_field){names[which], copy_of(text)};
    lw_require(run(input, &arena, &found) == 0);
    lw_require(lw_slice_equal(found.peer, LW_SLICE("192.0.2.77")));
    lw_require(found.host.size == 0);
    lw_arena_destruct(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {.count = 0};
    read_input(lw_slice((const char *)data, size), &input);
    check(&input);
    if (input.counts[0] == input.count)
        check_last_word(&input, 0, LW_SLICE("for=192.0.2.77"));
    else if (input.counts[1] == input.count)
        check_last_word(&input, 1, LW_SLICE("192.0.2.77"));
    for (uint32_t i = 0; i < input.count; i++)
        free((char *)input.fields[i].value.data);
    return 0;
}
