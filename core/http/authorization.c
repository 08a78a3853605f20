/* SPDX-License-Identifier: MIT
 *
 * Authorization fields: scheme and token68 by their grammars, and Basic credentials
 * from the only base64 text that encodes them, so that equal credentials are equal
 * texts.  Owns nothing.  RFC 9110 §11.2, §11.4; RFC 7617 §2; RFC 4648 §3.5, §4. */
#include "http/authorization.h"

#include "http/fields.h"

static bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Whether `c` is one of `others`, which a NUL never is. */
static bool is_among(char c, const char *others)
{
    return c != '\0' && strchr(others, c) != NULL;
}

/* 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=", RFC 9110 §11.2. */
static bool is_token68(struct luaweb_slice s)
{
    size_t at = 0;
    while (at < s.size
           && (is_letter_or_digit(s.data[at]) || is_among(s.data[at], "-._~+/")))
        at++;
    if (at == 0)
        return false;
    while (at < s.size && s.data[at] == '=')
        at++;
    return at == s.size;
}

bool lw_authorization_parse(struct luaweb_slice text, struct lw_authorization *found)
{
    struct luaweb_slice rest = lw_slice_trim(text);
    struct luaweb_slice scheme = {rest.data, lw_token_size(rest.data, rest.size)};
    size_t used = scheme.size;
    while (used < rest.size && rest.data[used] == ' ')
        used++;
    if (scheme.size == 0 || (used == scheme.size && used < rest.size))
        return false;
    rest = lw_slice(rest.data + used, rest.size - used);
    *found = (struct lw_authorization){scheme, rest, is_token68(rest)};
    return true;
}

/* The six bits that an octet of base64 stands for, or -1.  RFC 4648 §4. */
static int sextet_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The octets that a group of four stands for go to `out`; how many there are, 0 when it
 * is none.  Bits that belong to no octet must be zero. */
static size_t decode_group(const char *group, char *out)
{
    size_t count = group[3] != '=' ? 3 : group[2] != '=' ? 2 : 1;
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++) {
        int sextet = i <= count ? sextet_of(group[i]) : 0;
        if (sextet < 0)
            return 0;
        bits = bits << 6 | (uint32_t)sextet;
    }
    if (bits & (0xffffffU >> (8 * count)))
        return 0;
    for (size_t i = 0; i < count; i++)
        out[i] = (char)(bits >> (16 - 8 * i) & 0xff);
    return count;
}

/* How many octets the text stands for, 0 when it is no base64. */
static size_t decode(struct luaweb_slice text, char *out)
{
    if (text.size % 4 != 0)
        return 0;
    size_t written = 0;
    for (size_t at = 0; at < text.size; at += 4) {
        size_t count = decode_group(text.data + at, out + written);
        if (count == 0 || (count < 3 && at + 4 < text.size))
            return 0;
        written += count;
    }
    return written;
}

/* CTL, RFC 5234 B.1. */
static bool has_control(struct luaweb_slice s)
{
    for (size_t i = 0; i < s.size; i++) {
        unsigned char octet = (unsigned char)s.data[i];
        if (octet < ' ' || octet == 127)
            return true;
    }
    return false;
}

bool lw_authorization_basic(struct luaweb_slice token, char *out,
                            struct luaweb_field *credentials)
{
    struct luaweb_slice text = {out, decode(token, out)};
    const char *colon = text.size > 0 ? memchr(text.data, ':', text.size) : NULL;
    if (!colon || has_control(text))
        return false;
    size_t before = (size_t)(colon - text.data);
    credentials->name = lw_slice(text.data, before);
    credentials->value = lw_slice(colon + 1, text.size - before - 1);
    return true;
}
