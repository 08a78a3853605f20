/* SPDX-License-Identifier: MIT
 *
 * Addresses of the other side as octets and as text, and sets of networks that they may
 * lie in.  Nothing here allocates or asks anybody: names are not looked up. */
#ifndef LW_BASE_PEER_H
#define LW_BASE_PEER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"

enum lw_family {
    LW_FAMILY_NONE, /* not known */
    LW_FAMILY_V4,
    LW_FAMILY_V6,
    LW_FAMILY_UNIX
};

struct lw_peer {
    enum lw_family family;
    uint8_t octets[16]; /* IPv4: the first four; the others are 0 */
};

#define LW_PEER_TEXT    46 /* octets of any address as text, with the NUL */
#define LW_MAX_NETWORKS 64 /* in a set */

/* Takes 4 or 16 octets.  An IPv4 address within an IPv6 one (RFC 4291 §2.5.5.2) becomes
 * that: a client has one address, whatever kind of socket it came through. */
struct lw_peer lw_peer_of(const void *octets, enum lw_family family);

/* Reads "192.0.2.1" (no zeros in front) or "2001:db8::1" (no brackets, no zone). */
bool lw_peer_read(struct luaweb_slice text, struct lw_peer *address);

/* Writes it with a NUL: in the form of RFC 5952, "unix:", or nothing.  Gives the octets
 * without the NUL. */
uint32_t lw_peer_write(const struct lw_peer *address, char text[LW_PEER_TEXT]);

struct lw_network {
    struct lw_peer address;
    uint32_t bits; /* that count, 0..32 or 0..128 */
};

/* Zeroed, it has nobody. */
struct lw_networks {
    struct lw_network list[LW_MAX_NETWORKS];
    uint32_t count;
    bool has_unix; /* whoever comes by a unix socket */
};

/* Adds "10.0.0.0/8", "::1", "fd00::/8" or "unix:".  false: the text is none of these,
 * has bits behind its prefix, or there are LW_MAX_NETWORKS already. */
bool lw_networks_add(struct lw_networks *networks, struct luaweb_slice text);

/* Whether it has anybody. */
bool lw_networks_any(const struct lw_networks *networks);

bool lw_networks_have(const struct lw_networks *networks,
                      const struct lw_peer *address);

#endif
