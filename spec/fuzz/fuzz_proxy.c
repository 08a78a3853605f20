/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the header of the PROXY protocol.  It is whole at its last octet and never
 * before; what is refused is refused however much follows; only a whole one names a
 * client, whose address reads as it was written. */
#include <stdlib.h>

#include "base/require.h"
#include "base/slice.h"
#include "http/proxy_header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    int result;
    size_t size;
    struct lw_peer client;
};

/* From a copy of its own, so that no octet beyond its end is read unseen. */
static struct outcome read_copy(const uint8_t *data, size_t size)
{
    struct outcome outcome;
    const char *why = NULL;
    char *copy = lw_alloc(size + !size);
    if (size > 0)
        memcpy(copy, data, size);
    outcome.result = lw_proxy_header_read(lw_slice(copy, size), &outcome.size,
                                          &outcome.client, &why);
    lw_require(outcome.result == 0 || outcome.result == 1 || outcome.result == 400);
    lw_require((outcome.result == 400) == (why != NULL));
    lw_require(outcome.result == 0 || outcome.client.family == LW_FAMILY_NONE);
    free(copy);
    return outcome;
}

static void check_client(const struct lw_peer *client)
{
    char text[LW_PEER_TEXT];
    struct lw_peer again;
    size_t size = lw_peer_write(client, text);
    if (client->family == LW_FAMILY_NONE || client->family == LW_FAMILY_UNIX)
        return;
    lw_require(lw_peer_read(lw_slice(text, size), &again));
    lw_require(again.family == client->family);
    lw_require(memcmp(again.octets, client->octets, sizeof again.octets) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole = read_copy(data, size);
    check_client(&whole.client);
    if (whole.result == 0) {
        lw_require(whole.size <= size && whole.size >= 15);
        lw_require(whole.size <= (data[0] == 'P' ? LW_PROXY_LINE : LW_PROXY_BLOCK));
        struct outcome exact = read_copy(data, whole.size);
        lw_require(exact.result == 0 && exact.size == whole.size);
        lw_require(read_copy(data, whole.size - 1).result == 1);
    }
    if (whole.result != 0)
        for (size_t i = 0; i < size && i < 128; i++)
            lw_require(read_copy(data, i).result != 0);
    if (whole.result == 1 && size > 0)
        lw_require(read_copy(data, size - 1).result == 1);
    return 0;
}
