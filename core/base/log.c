/* SPDX-License-Identifier: MIT
 *
 * Formats and writes lines of the error log: one write(2) a line, whatever its length,
 * so that lines of several processes do not mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/require.h"

static const char *const level_names[] = {"debug", "info", "warn", "error"};

static enum lw_level threshold = LW_LOG_INFO;

void lw_log_threshold(enum lw_level level)
{
    threshold = level;
}

static size_t write_prefix(char *out, size_t room, enum lw_level level)
{
    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    int n = snprintf(out, room, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ %-5s ",
                     tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                     tm.tm_min, tm.tm_sec, now.tv_nsec / 1000000, level_names[level]);
    return n < 0 ? 0 : (size_t)n;
}

/* Escapes one octet into `out` (room for 4); gives how many octets that took. */
static size_t escape(char *out, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    if (c == '\n') {
        out[0] = '\n';
        out[1] = '\t';
        return 2;
    }
    if (c == '\t' || (c >= 0x20 && c != 0x7f)) {
        out[0] = (char)c;
        return 1;
    }
    out[0] = '\\';
    out[1] = 'x';
    out[2] = hex[c >> 4];
    out[3] = hex[c & 15];
    return 4;
}

void lw_log_text(enum lw_level level, const char *text, size_t size)
{
    if (level < threshold)
        return;
    const size_t prefix = 64;
    char *line = lw_alloc(prefix + size * 4 + 1);
    size_t at = write_prefix(line, prefix, level);
    while (size > 0 && text[size - 1] == '\n')
        size--;
    for (size_t i = 0; i < size; i++)
        at += escape(line + at, (unsigned char)text[i]);
    line[at++] = '\n';
    for (size_t done = 0; done < at;) {
        ssize_t n = write(STDERR_FILENO, line + done, at - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    free(line);
}

void lw_log(enum lw_level level, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n < 0)
        return;
    lw_log_text(level, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}
