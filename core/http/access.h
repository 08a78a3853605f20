/* SPDX-License-Identifier: MIT
 *
 * Lines of the access log: one a request, in the combined format, as JSON, or for the
 * eye.  Whatever
 * a client sends stays within its field of its line: quotes, backslashes, control
 * octets and octets above 0x7e are escaped; what is very long is cut.  Owns nothing,
 * writes no file. */
#ifndef LW_HTTP_ACCESS_H
#define LW_HTTP_ACCESS_H

#include <stddef.h>
#include <stdint.h>

#include "base/abi.h"

/* Octets of each slice that are written; where there are more, "..." follows. */
#define LW_ACCESS_FIELD 16384

enum lw_access_format {
    LW_ACCESS_COMBINED,
    LW_ACCESS_JSON,
    LW_ACCESS_TERMINAL, /* columns: method, status, time, size, target, resource */
    LW_ACCESS_COLOURED  /* the same, with colours */
};

/* What is known of a request at its end; slices without octets: not known. */
struct lw_access {
    int64_t time_ms; /* since 1970, when its head was whole */
    struct luaweb_slice id;
    struct luaweb_slice trace; /* its id, where somebody has asked for it */
    struct luaweb_slice peer;
    struct luaweb_slice method;
    struct luaweb_slice target;
    struct luaweb_slice referer;
    struct luaweb_slice user_agent;
    struct luaweb_slice resource; /* the template */
    uint32_t minor_version;
    int32_t status;
    uint64_t octets;      /* of content that went out */
    uint64_t duration_us; /* from the whole head to the end of the answer */
};

/* A bound for the octets of its line, always less than 1 MiB. */
size_t lw_access_bound(const struct lw_access *access);

/* Writes the line with its line feed; `out` has room for lw_access_bound octets.  Gives
 * how many there are. */
size_t lw_access_write(const struct lw_access *access, enum lw_access_format format,
                       char *out);

#endif
