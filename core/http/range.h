/* SPDX-License-Identifier: MIT
 *
 * Byte ranges: reads Range and writes Content-Range and the heads of
 * multipart/byteranges.  Owns nothing.  Must never give ranges that overlap: the octets
 * sent are at most those of the representation, whatever was asked (RFC 9110 §17.15).
 * Methods and If-Range are not looked at.  RFC 9110 §14, §15.3.7. */
#ifndef LW_HTTP_RANGE_H
#define LW_HTTP_RANGE_H

#include "base/slice.h"

#define LW_RANGES_MAX         16  /* that one field may ask for */
#define LW_RANGE_TEXT_MAX     68  /* octets of a Content-Range value */
#define LW_RANGE_BOUNDARY_MAX 70  /* octets (RFC 2046 §5.1.1) */
#define LW_RANGE_PART_MAX     179 /* of the head of a part, its type not counted */

/* The octets from the first to the last, both included. */
struct lw_range {
    uint64_t first;
    uint64_t last;
};

enum lw_range_result {
    LW_RANGE_IGNORED,      /* lw_range_wanted says no: answer as if it were not there */
    LW_RANGE_FITS,         /* at least one of the ranges can be sent */
    LW_RANGE_UNSATISFIABLE /* none can */
};

/* Whether there is a range to be looked at: exactly one line, of unit bytes in any
 * case, well formed, with at most LW_RANGES_MAX ranges.  One malformed range, or one
 * that ends before it begins, spoils the field.  RFC 9110 §14.1, §14.2. */
bool lw_range_wanted(struct luaweb_fields headers);

/* Reads the field for a representation of `size` octets.  Where it fits, `ranges` (room
 * for LW_RANGES_MAX) has *count of them, at least one: within the representation, in
 * the order in which they were asked for; those that overlap or are neighbours are
 * joined, in the place of the first, and those that nothing is there for are left out.
 * Otherwise *count is 0.  Positions may have any number of digits.  Of an empty
 * representation no range can be sent.  RFC 9110 §14.1.2, §14.2, §15.3.7.2. */
enum lw_range_result lw_range_read(struct luaweb_fields headers, uint64_t size,
                                   struct lw_range *ranges, uint32_t *count);

/* Writes the Content-Range of a 206, "bytes 0-99/1000", without NUL; returns how many
 * octets.  `size` is that of the whole representation.  RFC 9110 §14.4. */
size_t lw_range_write(struct lw_range range, uint64_t size,
                      char out[LW_RANGE_TEXT_MAX]);

/* Writes the Content-Range of a 416, which has a star in the place of the range.
 * RFC 9110 §14.4, §15.5.17. */
size_t lw_range_write_unsatisfiable(uint64_t size, char out[LW_RANGE_TEXT_MAX]);

/* What a content of type multipart/byteranges is made of.  For several ranges: one
 * alone is sent without parts (§15.3.7.2). */
struct lw_range_parts {
    const struct lw_range *ranges; /* as lw_range_read gives them */
    uint32_t count;
    uint64_t size;                /* of the whole representation, at most INT64_MAX */
    struct luaweb_slice boundary; /* not empty, not in the content */
    struct luaweb_slice type;     /* Content-Type of the representation, maybe empty */
};

/* Writes what stands in front of the octets of ranges[index], or, when `index` is
 * `count`, what closes the content; returns how many octets, at most
 * LW_RANGE_PART_MAX + type.size.  With `out` NULL it only counts them.  RFC 9110 §14.6,
 * RFC 2046 §5.1.1. */
size_t lw_range_part_write(const struct lw_range_parts *parts, uint32_t index,
                           char *out);

/* The octets of the whole content: those of the ranges with all that
 * lw_range_part_write adds to them. */
uint64_t lw_range_parts_size(const struct lw_range_parts *parts);

#endif
