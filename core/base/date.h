/* SPDX-License-Identifier: MIT
 *
 * HTTP-date: seconds since 1970-01-01T00:00:00Z to text and back, without the C
 * library's time zones or locale.  Owns nothing; never asks for the time.  RFC 9110
 * §5.6.7. */
#ifndef LW_BASE_DATE_H
#define LW_BASE_DATE_H

#include "base/slice.h"

/* Writes `epoch` (seconds) as IMF-fixdate, "Sun, 06 Nov 1994 08:49:37 GMT": 29 octets,
 * no NUL.  False when the year is not one of 0000 to 9999; then `out` is left as it
 * was.  RFC 9110 §5.6.7. */
bool lw_date_format(int64_t epoch, char out[29]);

/* Reads any of the three forms into `epoch` (seconds; negative before 1970).  `now`
 * (seconds) decides on the century of a two-digit year: the latest one that is not more
 * than 50 years ahead.  The name of the day must be one but need not fit the date; a
 * leap second counts as the second after it.  False, with `epoch` left as it was, for
 * all else, white space around the date and other case included.  What it gives,
 * lw_date_format can write.  RFC 9110 §5.6.7. */
bool lw_date_parse(struct luaweb_slice text, int64_t now, int64_t *epoch);

#endif
