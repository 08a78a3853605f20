/* SPDX-License-Identifier: MIT
 *
 * Writing the normal form.  No octet is written past the place it was read from, so it
 * can be done in place.  RFC 3986 §6.2.2. */
#include "route/path.h"

#include <string.h>

#include "base/slice.h"
#include "base/utf8.h"

/* Eight octets at a time: the upper bit of one that is zero or above 127, or of one
 * behind it, is found. */
bool lw_path_is_normal(struct luaweb_slice text)
{
    const uint64_t ones = UINT64_MAX / 255;
    uint64_t found = 0;
    size_t at = 0;
    for (; text.size - at >= sizeof found; at += sizeof found) {
        uint64_t word;
        memcpy(&word, text.data + at, sizeof word);
        uint64_t percent = word ^ ones * '%';
        found |= word | ((percent - ones) & ~percent);
    }
    for (; at < text.size; at++) {
        unsigned char octet = (unsigned char)text.data[at];
        found |= octet == '%' ? 0x80 : octet;
    }
    return (found & ones * 0x80) == 0;
}

/* The value of a hexadecimal digit, or -1. */
static int hex_value(char c)
{
    char lower = lw_lower(c);
    if (c >= '0' && c <= '9')
        return c - '0';
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* What means something else when it is escaped (RFC 3986 §2.2), and the % itself. */
static bool stays_escaped(int octet)
{
    return octet != 0 && strchr("%:/?#[]@!$&'()*+,;=", octet);
}

static bool is_utf8(const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t step = lw_utf8_size(text + at, size - at);
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

bool lw_path_normalise(struct luaweb_slice text, char *out, size_t *size)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t written = 0;
    for (size_t at = 0; at < text.size; at++) {
        char c = text.data[at];
        if (c != '%') {
            out[written++] = c;
            continue;
        }
        if (text.size - at < 3)
            return false;
        int high = hex_value(text.data[at + 1]);
        int low = hex_value(text.data[at + 2]);
        if (high < 0 || low < 0)
            return false;
        at += 2;
        if (stays_escaped(high * 16 + low)) {
            out[written++] = '%';
            out[written++] = digits[high];
            out[written++] = digits[low];
        } else {
            out[written++] = (char)(high * 16 + low);
        }
    }
    *size = written;
    return is_utf8(out, written);
}

struct luaweb_slice lw_path_cut(struct luaweb_slice *rest, char separator)
{
    const char *end = rest->size > 0 ? memchr(rest->data, separator, rest->size) : NULL;
    size_t size = end ? (size_t)(end - rest->data) : rest->size;
    struct luaweb_slice item = lw_slice(rest->data, size);
    *rest = end ? lw_slice(end + 1, rest->size - size - 1) : lw_slice(NULL, 0);
    return item;
}
