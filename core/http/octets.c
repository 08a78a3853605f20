/* SPDX-License-Identifier: MIT
 *
 * The table of octets; those from 128 on are part of none of it. */
#include "http/octets.h"

/* clang-format off */
const uint8_t lw_octets[256] = {
     0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
     0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
     0,  7,  4,  1,  7,  5,  7,  7,  6,  6,  7,  7,  6,  7,  7,  4, /* blank to / */
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15,  4,  6,  4,  6,  4,  4, /* 0 to ? */
     4, 15, 15, 15, 15, 15, 15,  7,  7,  7,  7,  7,  7,  7,  7,  7, /* @ to O */
     7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  4,  4,  4,  5,  7, /* P to _ */
     5, 15, 15, 15, 15, 15, 15,  7,  7,  7,  7,  7,  7,  7,  7,  7, /* ` to o */
     7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  4,  5,  4,  7,  0, /* p to ~ */
};
/* clang-format on */
