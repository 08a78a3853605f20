/* SPDX-License-Identifier: MIT
 *
 * Names of requests. */
#include "http/request_id.h"

#include <string.h>

static bool is_safe(char octet)
{
    bool is_letter = (octet | 0x20) >= 'a' && (octet | 0x20) <= 'z';
    bool is_digit = octet >= '0' && octet <= '9';
    return is_letter || is_digit || (octet && strchr("._~:+/=@-", octet));
}

bool lw_request_id_valid(struct luaweb_slice id)
{
    if (id.size == 0 || id.size > LW_ID_MOST)
        return false;
    for (size_t i = 0; i < id.size; i++)
        if (!is_safe(id.data[i]))
            return false;
    return true;
}

size_t lw_request_id_write(const char *prefix, uint64_t number, char *id)
{
    static const char digits[] = "0123456789abcdef";
    size_t at = strlen(prefix);
    memcpy(id, prefix, at);
    id[at++] = '-';
    int shift = 60;
    while (shift > 0 && number >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        id[at++] = digits[number >> shift & 15];
    id[at] = 0;
    return at;
}
