/* SPDX-License-Identifier: MIT
 *
 * Reads traceparent and tracestate octet by octet. */
#include "http/trace_context.h"

#include <string.h>

#include "base/slice.h"
#include "http/fields.h"

/* Where the parts of a traceparent stand: 00-<32>-<16>-<2>. */
#define TRACE_AT  3
#define PARENT_AT 36
#define FLAGS_AT  53
#define SIZE      55

#define MOST_MEMBERS 32
#define MOST_KEY     256
#define MOST_TENANT  241 /* in front of an @ in a key */
#define MOST_SYSTEM  14  /* behind it */
#define MOST_VALUE   256

/* The value of a lower-case hex digit; -1: it is none. */
static int digit_of(char octet)
{
    if (octet >= '0' && octet <= '9')
        return octet - '0';
    return octet >= 'a' && octet <= 'f' ? octet - 'a' + 10 : -1;
}

static bool is_hex(const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (digit_of(data[i]) < 0)
            return false;
    return true;
}

/* An id that is all zeros is none. */
static bool is_id(const char *data, size_t size)
{
    size_t zeros = 0;
    while (zeros < size && data[zeros] == '0')
        zeros++;
    return zeros < size && is_hex(data, size);
}

/* Version ff is none; what follows the flags is for versions to come. */
static bool has_form(struct luaweb_slice value)
{
    const char *data = value.data;
    if (value.size < SIZE || !is_hex(data, 2) || memcmp(data, "ff", 2) == 0)
        return false;
    bool is_first = memcmp(data, "00", 2) == 0;
    if (value.size > SIZE && (is_first || data[SIZE] != '-'))
        return false;
    return data[TRACE_AT - 1] == '-' && data[PARENT_AT - 1] == '-'
           && data[FLAGS_AT - 1] == '-';
}

bool lw_traceparent_read(struct luaweb_slice value, struct luaweb_trace *trace)
{
    if (!has_form(value) || !is_id(value.data + TRACE_AT, sizeof trace->trace_id)
        || !is_id(value.data + PARENT_AT, sizeof trace->parent_id)
        || !is_hex(value.data + FLAGS_AT, 2))
        return false;
    memcpy(trace->trace_id, value.data + TRACE_AT, sizeof trace->trace_id);
    memcpy(trace->parent_id, value.data + PARENT_AT, sizeof trace->parent_id);
    trace->has_parent = 1;
    trace->flags = (uint32_t)digit_of(value.data[FLAGS_AT + 1])
                   & (LUAWEB_TRACE_SAMPLED | LUAWEB_TRACE_RANDOM);
    return true;
}

static bool is_lower(char octet)
{
    return octet >= 'a' && octet <= 'z';
}

static bool is_lower_or_digit(char octet)
{
    return is_lower(octet) || (octet >= '0' && octet <= '9');
}

/* A key, or a half of one: how it may begin differs. */
static bool is_key_part(struct luaweb_slice part, size_t most)
{
    if (part.size == 0 || part.size > most)
        return false;
    for (size_t i = 0; i < part.size; i++) {
        char octet = part.data[i];
        bool is_mark = octet == '_' || octet == '-' || octet == '*' || octet == '/';
        if (!is_lower_or_digit(octet) && !(is_mark && i > 0))
            return false;
    }
    return true;
}

/* §3.3.1.3.1; that a key without an @ may begin with a digit is of level 2. */
static bool is_key(struct luaweb_slice key)
{
    const char *at = memchr(key.data, '@', key.size);
    if (!at)
        return is_key_part(key, MOST_KEY);
    size_t size = (size_t)(at - key.data);
    struct luaweb_slice system = lw_slice(at + 1, key.size - size - 1);
    return is_key_part(lw_slice(key.data, size), MOST_TENANT)
           && is_key_part(system, MOST_SYSTEM) && is_lower(system.data[0]);
}

/* §3.3.1.3.2; the space at its end is gone with the member's. */
static bool is_value(struct luaweb_slice value)
{
    if (value.size == 0 || value.size > MOST_VALUE)
        return false;
    for (size_t i = 0; i < value.size; i++)
        if (value.data[i] < 0x20 || value.data[i] > 0x7e || value.data[i] == '=')
            return false;
    return true;
}

static bool is_member(struct luaweb_slice member)
{
    const char *equals = memchr(member.data, '=', member.size);
    if (!equals)
        return false;
    size_t size = (size_t)(equals - member.data);
    return is_key(lw_slice(member.data, size))
           && is_value(lw_slice(equals + 1, member.size - size - 1));
}

bool lw_tracestate_valid(struct luaweb_slice value)
{
    struct luaweb_slice member;
    int count = 0;
    while (lw_list_next(&value, &member))
        if (++count > MOST_MEMBERS || !is_member(member))
            return false;
    return count > 0;
}

void lw_trace_hex(uint64_t number, char hex[16])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 15; i >= 0; i--) {
        hex[i] = digits[number & 15];
        number >>= 4;
    }
}

uint64_t lw_trace_number(const struct luaweb_trace *trace)
{
    uint64_t number = 0;
    for (size_t i = 16; i < sizeof trace->trace_id; i++)
        number = number << 4 | (uint64_t)digit_of(trace->trace_id[i]);
    return number;
}
