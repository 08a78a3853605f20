/* SPDX-License-Identifier: MIT
 *
 * lw_require(condition): what a caller must guarantee.  Where it does not hold, the
 * program is wrong and stops, in every build, naming the place. */
#ifndef LW_BASE_REQUIRE_H
#define LW_BASE_REQUIRE_H

#define lw_require(condition) \
    ((condition) ? (void)0 : lw_require_failed(#condition, __FILE__, __LINE__))

_Noreturn void lw_require_failed(const char *condition, const char *file, int line);

/* malloc and realloc that never give NULL: out of memory ends the worker, therefore
 * every size that a peer controls has a limit.  The caller owns the result (free). */
void *lw_alloc(unsigned long size);
void *lw_realloc(void *old, unsigned long size);

#endif
