/* SPDX-License-Identifier: MIT
 *
 * The text that names a request: of ours, or of who stands in front of us.
 * What is taken stands in logs, fields, JSON and HTML as it is, so it must need no
 * escape in any of them. */
#ifndef LW_HTTP_REQUEST_ID_H
#define LW_HTTP_REQUEST_ID_H

#include "base/abi.h"

#define LW_ID_MOST 128 /* octets of one */

/* Whether it may be taken: 1 to LW_ID_MOST letters, digits and . _ ~ : + / = @ - */
bool lw_request_id_valid(struct luaweb_slice id);

/* Writes one of ours, "prefix-number in hex", and a NUL; `prefix` has at most 8 octets.
 * Gives its size. */
size_t lw_request_id_write(const char *prefix, uint64_t number, char *id);

#endif
