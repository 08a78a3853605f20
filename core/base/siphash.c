/* SPDX-License-Identifier: MIT
 *
 * SipHash with one round for each word and three at the end, as hash tables of other
 * languages have it: the reference's 2 and 4 cost twice as much for short names. */
#include "base/siphash.h"

struct state {
    uint64_t v0, v1, v2, v3;
};

static uint64_t turn(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void mix(struct state *s)
{
    s->v0 += s->v1;
    s->v1 = turn(s->v1, 13) ^ s->v0;
    s->v0 = turn(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = turn(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = turn(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = turn(s->v1, 17) ^ s->v2;
    s->v2 = turn(s->v2, 32);
}

static void take(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    mix(s);
    s->v0 ^= word;
}

/* `size` octets, at most 8, the first the lowest. */
static uint64_t word_of(const unsigned char *data, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)data[i] << 8 * i;
    return word;
}

uint64_t lw_siphash(const uint64_t key[2], const void *data, size_t size)
{
    struct state s = {
        .v0 = key[0] ^ 0x736f6d6570736575,
        .v1 = key[1] ^ 0x646f72616e646f6d,
        .v2 = key[0] ^ 0x6c7967656e657261,
        .v3 = key[1] ^ 0x7465646279746573,
    };
    const unsigned char *at = data;
    const unsigned char *end = at + size / 8 * 8;
    for (; at < end; at += 8)
        take(&s, word_of(at, 8));
    take(&s, (uint64_t)size << 56 | word_of(at, size % 8));
    s.v2 ^= 0xff;
    mix(&s);
    mix(&s);
    mix(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
