/* SPDX-License-Identifier: MIT
 *
 * What proxies say of the client in front of them: Forwarded, or X-Forwarded-For, -Proto
 * and -Host.  Every proxy adds to the right of what it got, so the lists are believed
 * from the right up to the first address that is no trusted proxy's: that is the client,
 * and what stands to the left of it anybody may have written.  Must never be asked for a
 * connection that does not come from a trusted proxy.  RFC 7239. */
#ifndef LW_HTTP_FORWARDED_H
#define LW_HTTP_FORWARDED_H

#include "base/arena.h"
#include "base/peer.h"
#include "base/slice.h"

/* Slices lie in the arena or are constants; without octets: not said. */
struct lw_forwarded {
    struct luaweb_slice peer;   /* an address, "unknown", or a name such as "_hidden" */
    struct luaweb_slice scheme; /* "http" or "https" */
    struct luaweb_slice host;   /* host[:port] */
};

/* Reads what the fields of a request say.  Of scheme and host, what the outermost
 * trusted proxy said counts.
 *   0     done
 *   -1    what is to be believed is malformed: nothing is, `found` is empty
 *   400   Forwarded and X-Forwarded-* are both there and do not say the same: one of
 *         them is not the proxy's own, and nobody knows which; `found` is empty
 * *why is then a static sentence.  RFC 7239 §4, §5, §6, §8.1. */
int lw_forwarded_read(struct luaweb_fields headers, const struct lw_networks *trusted,
                      struct lw_arena *arena, struct lw_forwarded *found,
                      const char **why);

#endif
