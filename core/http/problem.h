/* SPDX-License-Identifier: MIT
 *
 * The short body of an answer that has nothing else to say, for a status that is final:
 * as text, as HTML, or as a problem details object, whichever the client prefers.  Owns
 * nothing.  What goes out is UTF-8, and nothing in a detail is markup.  Must never say
 * more than it was given.  RFC 9457, RFC 9110 §12.5.1, §15. */
#ifndef LW_HTTP_PROBLEM_H
#define LW_HTTP_PROBLEM_H

#include <stddef.h>

#include "base/abi.h"

#define LW_PROBLEM_SIZE 1280

struct lw_problem {
    struct luaweb_slice type; /* the media type, static */
    size_t size;              /* of the text */
    char text[LW_PROBLEM_SIZE];
};

/* Writes the body for a status of three digits.  `headers` are those of the request:
 * what they accept decides, and the answer varies by Accept.  Text where they like it
 * as well as the others, and where they accept none of them (RFC 9110 §12.4.1).
 *
 * Who accepts application/json gets application/problem+json.  Strictly that is another
 * type, but any reader of JSON can read it (RFC 6839 §3.1), text would be no more
 * acceptable, and the members mean what RFC 9457 §3 says under this type only.  The
 * problem type is about:blank, the default that is not sent, so the title is the reason
 * phrase (§4.2.1); neither is sent of a status without one.
 *
 * The detail is for people, and may be empty.  What does not fit is cut between two
 * characters and ends in "...".  Octets that are not UTF-8 become U+FFFD; in text and
 * HTML control characters become spaces.
 *
 * `id` names the request, in safe octets (request_id.h); empty: it is not told.  It is a
 * line of its own, or the extension member `request_id` (§3.2). */
void lw_problem_write(struct luaweb_fields headers, int status,
                      struct luaweb_slice detail, struct luaweb_slice id,
                      struct lw_problem *problem);

#endif
