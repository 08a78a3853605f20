/* SPDX-License-Identifier: MIT
 *
 * libc reads and writes addresses; it is strict where that matters ("010.0.0.1" has two
 * meanings, so it is none). */
#include "base/peer.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/slice.h"

#define MAPPED_AT 12 /* where the IPv4 address lies in ::ffff:192.0.2.1 */

static const uint8_t mapped[MAPPED_AT] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct lw_peer lw_peer_of(const void *octets, enum lw_family family)
{
    struct lw_peer address = {.family = family};
    const uint8_t *from = octets;
    bool is_mapped = family == LW_FAMILY_V6 && memcmp(from, mapped, MAPPED_AT) == 0;
    if (is_mapped) {
        address.family = LW_FAMILY_V4;
        from += MAPPED_AT;
    }
    memcpy(address.octets, from, address.family == LW_FAMILY_V4 ? 4 : 16);
    return address;
}

bool lw_peer_read(struct luaweb_slice text, struct lw_peer *address)
{
    char copy[LW_PEER_TEXT];
    uint8_t octets[16];
    if (text.size == 0 || text.size >= sizeof copy || memchr(text.data, 0, text.size))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    bool is_v6 = strchr(copy, ':') != NULL;
    if (inet_pton(is_v6 ? AF_INET6 : AF_INET, copy, octets) != 1)
        return false;
    *address = lw_peer_of(octets, is_v6 ? LW_FAMILY_V6 : LW_FAMILY_V4);
    return true;
}

uint32_t lw_peer_write(const struct lw_peer *address, char text[LW_PEER_TEXT])
{
    text[0] = 0;
    if (address->family == LW_FAMILY_UNIX)
        memcpy(text, "unix:", sizeof "unix:");
    else if (address->family != LW_FAMILY_NONE)
        inet_ntop(address->family == LW_FAMILY_V4 ? AF_INET : AF_INET6, address->octets,
                  text, LW_PEER_TEXT);
    return (uint32_t)strlen(text);
}

static uint32_t width_of(const struct lw_peer *address)
{
    return address->family == LW_FAMILY_V4 ? 32 : 128;
}

/* Whether the first `bits` bits are the same. */
static bool agree(const uint8_t *a, const uint8_t *b, uint32_t bits)
{
    uint32_t whole = bits / 8;
    uint32_t rest = bits % 8;
    return memcmp(a, b, whole) == 0
           && (rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0);
}

/* Whether no bit behind the prefix is set. */
static bool is_bare(const struct lw_network *network)
{
    for (uint32_t bit = network->bits; bit < width_of(&network->address); bit++)
        if (network->address.octets[bit / 8] >> (7 - bit % 8) & 1)
            return false;
    return true;
}

/* Reads 0..128 without zeros in front. */
static bool read_bits(struct luaweb_slice text, uint32_t *bits)
{
    *bits = 0;
    if (text.size == 0 || text.size > 3 || (text.data[0] == '0' && text.size > 1))
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *bits = *bits * 10 + (uint32_t)(text.data[i] - '0');
    }
    return true;
}

static bool read_network(struct luaweb_slice text, struct lw_network *network)
{
    const char *slash = text.size > 0 ? memchr(text.data, '/', text.size) : NULL;
    struct luaweb_slice address = text;
    if (slash)
        address.size = (size_t)(slash - text.data);
    if (!lw_peer_read(address, &network->address))
        return false;
    network->bits = width_of(&network->address);
    if (!slash)
        return true;
    lw_slice_skip(&text, address.size + 1);
    return read_bits(text, &network->bits)
           && network->bits <= width_of(&network->address) && is_bare(network);
}

bool lw_networks_add(struct lw_networks *networks, struct luaweb_slice text)
{
    if (lw_slice_equal(text, LW_SLICE("unix:"))) {
        networks->has_unix = true;
        return true;
    }
    if (networks->count == LW_MAX_NETWORKS
        || !read_network(text, &networks->list[networks->count]))
        return false;
    networks->count++;
    return true;
}

bool lw_networks_any(const struct lw_networks *networks)
{
    return networks->count > 0 || networks->has_unix;
}

bool lw_networks_have(const struct lw_networks *networks, const struct lw_peer *address)
{
    if (address->family == LW_FAMILY_UNIX)
        return networks->has_unix;
    for (uint32_t i = 0; i < networks->count; i++) {
        const struct lw_network *network = &networks->list[i];
        if (network->address.family == address->family
            && agree(network->address.octets, address->octets, network->bits))
            return true;
    }
    return false;
}
