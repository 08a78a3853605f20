/* SPDX-License-Identifier: MIT
 *
 * SipHash-1-3 (Aumasson, Bernstein): a hash whose key an attacker does not know, so
 * that nobody can choose names that all fall into one bucket. */
#ifndef LW_BASE_SIPHASH_H
#define LW_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* 64 bits of the octets under a key of 128; the same on every machine. */
uint64_t lw_siphash(const uint64_t key[2], const void *data, size_t size);

#endif
