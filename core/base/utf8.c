/* SPDX-License-Identifier: MIT
 *
 * The forms of UTF-8 characters, as a table.  Only the shortest form of each character
 * is one, surrogates are none, and U+10FFFF is the last.  RFC 3629 §4. */
#include "base/utf8.h"

#include <stdbool.h>

static const struct {
    unsigned char from, to;    /* what the first octet may be */
    unsigned char least, most; /* what the second one may be */
    unsigned char size;
} forms[] = {
    {0x00, 0x7f, 0x00, 0x00, 1},
    {0xc2, 0xdf, 0x80, 0xbf, 2},
    {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3},
    {0xed, 0xed, 0x80, 0x9f, 3},
    {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4},
    {0xf1, 0xf3, 0x80, 0xbf, 4},
    {0xf4, 0xf4, 0x80, 0x8f, 4},
};

static bool is_between(char c, unsigned char least, unsigned char most)
{
    unsigned char octet = (unsigned char)c;
    return octet >= least && octet <= most;
}

size_t lw_utf8_size(const char *text, size_t size)
{
    if (size == 0)
        return 0;
    size_t row = 0;
    while (!is_between(text[0], forms[row].from, forms[row].to))
        if (++row == sizeof forms / sizeof *forms)
            return 0;
    if (size < forms[row].size)
        return 0;
    if (forms[row].size > 1 && !is_between(text[1], forms[row].least, forms[row].most))
        return 0;
    for (size_t i = 2; i < forms[row].size; i++)
        if (!is_between(text[i], 0x80, 0xbf))
            return 0;
    return forms[row].size;
}
