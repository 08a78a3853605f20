/* SPDX-License-Identifier: MIT
 *
 * What one process of all may do: whoever takes a duty keeps it until it gives it back or
 * dies, and then another one may take it. */
#ifndef LW_SHARE_ONCE_H
#define LW_SHARE_ONCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LW_ONCE_DUTIES 256

/* The number of the duty with this name, of at most 119 octets (longer ones are told apart
 * by their ends); -1: all are taken by others. */
int lw_once_duty(const char *text, size_t size);

/* Takes a duty: true when this thread has it from now on.  It is false for who has it
 * already, too: another Lua state of the process is another one. */
bool lw_once_take(int duty);

/* Gives it back. */
void lw_once_give(int duty);

/* When it was last done, in nanoseconds of CLOCK_MONOTONIC; 0: never.  For who has it. */
uint64_t lw_once_last(int duty);
void lw_once_note(int duty, uint64_t now_ns);

#endif
