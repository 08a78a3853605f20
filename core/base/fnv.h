/* SPDX-License-Identifier: MIT
 *
 * FNV-1a: a hash for a few names of ours.  Whoever knows it can choose names that fall
 * together: for those of others there is siphash.h. */
#ifndef LW_BASE_FNV_H
#define LW_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t lw_fnv(const char *text, size_t size)
{
    uint64_t hash = 14695981039346656037U;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211U;
    return hash;
}

#endif
