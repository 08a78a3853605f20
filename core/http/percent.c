/* SPDX-License-Identifier: MIT
 *
 * Percent-encoding.  Each octet is looked at once, from left to right, and never
 * written past the place it was read from, so decoding in place is safe.  Owns
 * nothing.  RFC 3986 §2.1; WHATWG URL §5. */
#include "http/percent.h"

/* The value of a hexadecimal digit, or -1. */
static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* The octet that the escape at text.data[at], a %, stands for, or -1. */
static int escape_value(struct luaweb_slice text, size_t at)
{
    if (text.size - at < 3)
        return -1;
    int high = hex_value(text.data[at + 1]);
    int low = hex_value(text.data[at + 2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool lw_percent_decode(struct luaweb_slice text, char *out, size_t *size)
{
    size_t written = 0;
    for (size_t at = 0; at < text.size; at++) {
        char c = text.data[at];
        if (c == '%') {
            int value = escape_value(text, at);
            if (value < 0)
                return false;
            c = (char)value;
            at += 2;
        }
        out[written++] = c;
    }
    *size = written;
    return true;
}

size_t lw_percent_decode_form(struct luaweb_slice text, char *out)
{
    size_t written = 0;
    for (size_t at = 0; at < text.size; at++) {
        char c = text.data[at];
        int value = c == '%' ? escape_value(text, at) : -1;
        if (value >= 0) {
            c = (char)value;
            at += 2;
        } else if (c == '+') {
            c = ' ';
        }
        out[written++] = c;
    }
    return written;
}

/* What a form does not encode: letters, digits and * - . _ (WHATWG URL §5.2). */
static bool is_plain(char c)
{
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
        return true;
    return c == '*' || c == '-' || c == '.' || c == '_';
}

size_t lw_percent_encode_form(struct luaweb_slice text, char *out)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t written = 0;
    for (size_t at = 0; at < text.size; at++) {
        char c = text.data[at];
        if (c == ' ') {
            out[written++] = '+';
        } else if (is_plain(c)) {
            out[written++] = c;
        } else {
            out[written++] = '%';
            out[written++] = digits[(unsigned char)c >> 4];
            out[written++] = digits[(unsigned char)c & 15];
        }
    }
    return written;
}
