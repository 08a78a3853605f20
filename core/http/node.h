/* SPDX-License-Identifier: MIT
 *
 * How a proxy names one side of a connection: an address with or without a port,
 * "unknown", or a name of its own that hides the address.  Owns nothing.
 * RFC 7239 §6. */
#ifndef LW_HTTP_NODE_H
#define LW_HTTP_NODE_H

#include "base/peer.h"
#include "base/slice.h"

enum lw_node_kind {
    LW_NODE_NONE,
    LW_NODE_ADDRESS,
    LW_NODE_NAME /* "unknown" in lower case, or "_" and more */
};

struct lw_node {
    enum lw_node_kind kind;
    struct lw_peer address;
    struct luaweb_slice name; /* lies in the text, or is a constant */
};

/* Reads "192.0.2.1", "192.0.2.1:80", "[2001:db8::1]", "[2001:db8::1]:_port", "unknown",
 * "_hidden"; where `is_bare`, also an IPv6 address without brackets, as X-Forwarded-For
 * has it.  false: it is none of these. */
bool lw_node_read(struct luaweb_slice text, bool is_bare, struct lw_node *node);

bool lw_node_equal(const struct lw_node *a, const struct lw_node *b);

#endif
