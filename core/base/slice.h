/* SPDX-License-Identifier: MIT
 *
 * Slices: borrowed octets with a length.  Nothing here allocates. */
#ifndef LW_BASE_SLICE_H
#define LW_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/abi.h"

#define LW_SLICE(literal) ((struct luaweb_slice){(literal), sizeof(literal) - 1})

static inline struct luaweb_slice lw_slice(const char *data, size_t size)
{
    return (struct luaweb_slice){data, size};
}

static inline bool lw_slice_equal(struct luaweb_slice a, struct luaweb_slice b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* The ASCII lower case of one octet; other octets are left as they are. */
static inline char lw_lower(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c + ('a' - 'A'));
    return c;
}

/* Compares without regard to ASCII case, as names of headers want it (RFC 9110
 * §5.1). */
static inline bool lw_slice_equal_nocase(struct luaweb_slice a, struct luaweb_slice b)
{
    if (a.size != b.size)
        return false;
    for (size_t i = 0; i < a.size; i++)
        if (lw_lower(a.data[i]) != lw_lower(b.data[i]))
            return false;
    return true;
}

/* Without the spaces and tabs at both ends (OWS, RFC 9110 §5.6.3). */
static inline struct luaweb_slice lw_slice_trim(struct luaweb_slice s)
{
    while (s.size > 0 && (s.data[0] == ' ' || s.data[0] == '\t')) {
        s.data++;
        s.size--;
    }
    while (s.size > 0 && (s.data[s.size - 1] == ' ' || s.data[s.size - 1] == '\t'))
        s.size--;
    return s;
}

/* Drops octets from the front; there are so many. */
static inline void lw_slice_skip(struct luaweb_slice *rest, size_t size)
{
    rest->data += size;
    rest->size -= size;
}

static inline bool lw_slice_begins(struct luaweb_slice rest, char octet)
{
    return rest.size > 0 && rest.data[0] == octet;
}

/* Drops the spaces and tabs in front. */
static inline void lw_slice_skip_space(struct luaweb_slice *rest)
{
    while (lw_slice_begins(*rest, ' ') || lw_slice_begins(*rest, '\t'))
        lw_slice_skip(rest, 1);
}

/* Takes a text apart at its line feeds, into at most `room` items; gives their number.
 * An empty text has none. */
static inline uint32_t lw_slice_split(struct luaweb_slice text,
                                      struct luaweb_slice *items, uint32_t room)
{
    uint32_t count = 0;
    while (text.size > 0 && count < room) {
        const char *lf = (const char *)memchr(text.data, '\n', text.size);
        size_t size = lf ? (size_t)(lf - text.data) : text.size;
        items[count++] = lw_slice(text.data, size);
        size += lf != NULL;
        text = lw_slice(text.data + size, text.size - size);
    }
    return count;
}

#endif
