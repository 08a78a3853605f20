/* SPDX-License-Identifier: MIT
 *
 * The error log: one line an event on the standard error output, with time and level.
 * Control octets from outside are escaped, so that nobody can forge a line; line ends
 * become an indented line each, so that tracebacks stay readable. */
#ifndef LW_BASE_LOG_H
#define LW_BASE_LOG_H

#include <stddef.h>

enum lw_level {
    LW_LOG_DEBUG,
    LW_LOG_INFO,
    LW_LOG_WARN,
    LW_LOG_ERROR
};

/* Leaves out events below this level from now on (at first: LW_LOG_INFO).  The one
 * setting of the process that is not handed down: whoever logs should not have to
 * know. */
void lw_log_threshold(enum lw_level level);

/* Writes text[0..size) (borrowed). */
void lw_log_text(enum lw_level level, const char *text, size_t size);

/* The same for a printf format; longer than 1 KiB is cut. */
void lw_log(enum lw_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
