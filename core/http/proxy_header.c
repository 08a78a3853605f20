/* SPDX-License-Identifier: MIT
 *
 * Version 1: PROXY SP TCP4|TCP6 SP source SP destination SP port SP port CRLF, or
 * PROXY SP UNKNOWN and anything up to CRLF.  Version 2: a signature of 12 octets,
 * version and command, family and transport, the size of the rest; addresses, TLVs. */
#include "http/proxy_header.h"

#include "base/slice.h"

#define FIXED 16 /* octets of a version 2 header in front of its addresses */

static const char signature[12] = "\r\n\r\n\0\r\nQUIT\n";

static int refuse(const char *sentence, const char **why)
{
    *why = sentence;
    return 400;
}

/* Whether the octets are, as far as they go, those of `text`. */
static bool may_be(struct luaweb_slice octets, const char *text, size_t size)
{
    return memcmp(octets.data, text, octets.size < size ? octets.size : size) == 0;
}

/* Takes what stands before the next space, or all. */
static struct luaweb_slice take_word(struct luaweb_slice *rest)
{
    const char *space = rest->size > 0 ? memchr(rest->data, ' ', rest->size) : NULL;
    size_t size = space ? (size_t)(space - rest->data) : rest->size;
    struct luaweb_slice word = lw_slice(rest->data, size);
    lw_slice_skip(rest, space ? size + 1 : size);
    return word;
}

/* 0..65535 without zeros in front. */
static bool is_port(struct luaweb_slice text)
{
    uint32_t port = 0;
    if (text.size == 0 || text.size > 5 || (text.data[0] == '0' && text.size > 1))
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        port = port * 10 + (uint32_t)(text.data[i] - '0');
    }
    return port <= 65535;
}

static bool read_address(struct luaweb_slice text, bool is_v6, struct lw_peer *address)
{
    bool has_colon = text.size > 0 && memchr(text.data, ':', text.size);
    return has_colon == is_v6 && lw_peer_read(text, address);
}

/* The line behind "PROXY ", without its CRLF. */
static int read_line(struct luaweb_slice rest, struct lw_peer *client, const char **why)
{
    struct lw_peer destination;
    struct luaweb_slice family = take_word(&rest);
    if (lw_slice_equal(family, LW_SLICE("UNKNOWN")))
        return 0;
    bool is_v6 = lw_slice_equal(family, LW_SLICE("TCP6"));
    if (!is_v6 && !lw_slice_equal(family, LW_SLICE("TCP4")))
        return refuse("the PROXY header is for none of TCP4, TCP6, UNKNOWN", why);
    struct lw_peer source;
    if (!read_address(take_word(&rest), is_v6, &source)
        || !read_address(take_word(&rest), is_v6, &destination))
        return refuse("the PROXY header has an address that is none of its family",
                      why);
    struct luaweb_slice source_port = take_word(&rest);
    if (!is_port(source_port) || !is_port(rest))
        return refuse("the PROXY header does not end in two ports", why);
    *client = source;
    return 0;
}

static int read_version_1(struct luaweb_slice octets, size_t *size,
                          struct lw_peer *client, const char **why)
{
    static const char prefix[] = "PROXY ";
    size_t known = octets.size < LW_PROXY_LINE ? octets.size : LW_PROXY_LINE;
    const char *end = memmem(octets.data, known, "\r\n", 2);
    if (!end)
        return known < LW_PROXY_LINE
                   ? 1
                   : refuse("the line of the PROXY header does not end", why);
    *size = (size_t)(end - octets.data) + 2;
    octets.size = *size - 2;
    lw_slice_skip(&octets, sizeof prefix - 1);
    return read_line(octets, client, why);
}

/* By the upper half of the octet: how many octets its addresses have. */
static const size_t block_sizes[] = {
    0,  /* not given */
    12, /* IPv4: two addresses, two ports */
    36, /* IPv6: the same */
    216 /* unix: two paths */
};

static int read_block(struct luaweb_slice block, uint8_t family, struct lw_peer *client,
                      const char **why)
{
    uint8_t kind = family >> 4;
    uint8_t transport = family & 15; /* unspecified, stream, datagram: all the same */
    if (kind >= sizeof block_sizes / sizeof *block_sizes || transport > 2)
        return refuse("the family of the PROXY header is not known", why);
    if (block.size < block_sizes[kind])
        return refuse("the addresses of the PROXY header are cut short", why);
    switch (kind) {
    case 1: *client = lw_peer_of(block.data, LW_FAMILY_V4); break;
    case 2: *client = lw_peer_of(block.data, LW_FAMILY_V6); break;
    case 3: client->family = LW_FAMILY_UNIX; break;
    default: break;
    }
    return 0;
}

static int read_version_2(struct luaweb_slice octets, size_t *size,
                          struct lw_peer *client, const char **why)
{
    const uint8_t *at = (const uint8_t *)octets.data;
    if (octets.size > 12 && (at[12] >> 4 != 2 || (at[12] & 15) > 1))
        return refuse("the version or command of the PROXY header is not known", why);
    if (octets.size < FIXED)
        return 1;
    size_t rest = (size_t)at[14] << 8 | at[15];
    *size = FIXED + rest;
    if (*size > LW_PROXY_BLOCK)
        return refuse("the PROXY header is too long", why);
    if (octets.size < *size)
        return 1;
    if ((at[12] & 15) == 0) /* LOCAL: whatever else it says */
        return 0;
    return read_block(lw_slice(octets.data + FIXED, rest), at[13], client, why);
}

int lw_proxy_header_read(struct luaweb_slice octets, size_t *size,
                         struct lw_peer *client, const char **why)
{
    *client = (struct lw_peer){.family = LW_FAMILY_NONE};
    *size = 0;
    if (octets.size == 0)
        return 1;
    if (may_be(octets, "PROXY ", 6))
        return read_version_1(octets, size, client, why);
    if (may_be(octets, signature, sizeof signature))
        return octets.size < sizeof signature
                   ? 1
                   : read_version_2(octets, size, client, why);
    return refuse("it does not begin with a PROXY header", why);
}
