/* SPDX-License-Identifier: MIT
 *
 * The end of a program that is wrong, or out of memory. */
#include "base/require.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void lw_require_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "luaweb: broken promise: %s (%s:%d)\n", condition, file, line);
    abort();
}

static void *alive(void *memory)
{
    if (!memory) {
        fputs("luaweb: out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *lw_alloc(unsigned long size)
{
    return alive(malloc(size ? size : 1));
}

void *lw_realloc(void *old, unsigned long size)
{
    return alive(realloc(old, size ? size : 1));
}
