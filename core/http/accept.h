/* SPDX-License-Identifier: MIT
 *
 * Proactive negotiation: holds what we can offer against what a client says it accepts.
 * Owns nothing, allocates nothing, and looks at no more of a list than the limits in
 * accept_list.h say.  Never decides what follows from a choice.
 * RFC 9110 §12.4, §12.5, RFC 4647 §3.3.1, §3.4. */
#ifndef LW_HTTP_ACCEPT_H
#define LW_HTTP_ACCEPT_H

#include "base/abi.h"

enum lw_accept {
    LW_ACCEPT_MEDIA_TYPE, /* Accept */
    LW_ACCEPT_LANGUAGE,   /* Accept-Language */
    LW_ACCEPT_CHARSET,    /* Accept-Charset */
    LW_ACCEPT_CODING      /* Accept-Encoding */
};

/* The index of the offer that the client likes best, of equals the first; -1: it
 * accepts none.  Offers are well-formed, which is not checked.  `headers` are all of
 * the request: those of the dimension count, several lines are one list.  Without any,
 * all offers are equal.  Malformed members are passed over; where no member is left,
 * the field counts as absent, but Accept-Encoding as one that names no coding (RFC 9110
 * §12.5.3).  What an offer weighs is said at lw_accept_quality.  `identity` is here a
 * coding that is offered like others, or not at all. */
int lw_accept_choose(enum lw_accept dimension, struct luaweb_fields headers,
                     const struct luaweb_slice *offers, uint32_t count);

/* The same among codings, where leaving the content uncoded is possible too, and wins
 * when the client gives it more weight than any offer.  Without the field the first
 * offer wins.  -1: no coding; whether the client accepts that, lw_accept_identity says.
 */
int lw_accept_choose_coding(struct luaweb_fields headers,
                            const struct luaweb_slice *offers, uint32_t count);

/* Whether content without a coding is acceptable: unless `identity`, or a star where
 * it is not listed, has weight zero.  RFC 9110 §12.5.3. */
bool lw_accept_identity(struct luaweb_fields headers);

/* What one offer weighs, in thousandths: 0..1000, where 0 is not acceptable.  The most
 * specific member that matches decides, of equals the one with the highest weight.
 *   media types  type/subtype with the most parameters, without, type and star, stars;
 *                an offer must have every parameter that the member has
 *   languages    the longest range that the offer lies in, else one that lies in the
 *                offer and is not refused (lookup), else the star
 *   charsets     the name, else the star
 *   codings      the name (x-gzip is gzip, x-compress is compress), else the star; an
 *                `identity` that no member speaks of has the least weight above zero,
 *                and is chosen after all others */
int lw_accept_quality(enum lw_accept dimension, struct luaweb_fields headers,
                      struct luaweb_slice offer);

#endif
