/* SPDX-License-Identifier: MIT
 *
 * Formats and writes lines of the error log: one write(2) a line, whatever its length,
 * so that lines of several processes do not mix.
 *
 * A pipe or socket whose reader rests is no reason to stand still: what does not fit is
 * lost, and counted.  Other processes write to it too, so that it is not ours to make
 * non-blocking: each write is. */
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/require.h"
#include "base/utf8.h"

static const char *const level_names[] = {"debug", "info", "warn", "error"};

#define PATIENCE_MS 20   /* for a reader that is behind */
#define PIECE       4096 /* octets, for which a pipe that can be written to has room */

static enum lw_level threshold = LW_LOG_INFO;
static atomic_ulong lost; /* lines since the last one that was written */

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
    if (c == '\t' || (c >= 0x20 && c < 0x7f)) {
        out[0] = (char)c;
        return 1;
    }
    out[0] = '\\';
    out[1] = 'x';
    out[2] = hex[c >> 4];
    out[3] = hex[c & 15];
    return 4;
}

/* How many octets begin a character beyond ASCII that may stand there: the controls among
 * them (U+0080 to U+009F) are taken for commands by some terminals, and so are lone
 * octets. */
static size_t beyond_ascii(const char *text, size_t size)
{
    size_t n = (unsigned char)text[0] < 0x80 ? 0 : lw_utf8_size(text, size);
    bool is_control =
        n == 2 && (unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0;
    return is_control ? 0 : n;
}

/* Writes what stands at *at, and goes behind it. */
static size_t write_next(char *out, const char *text, size_t size, size_t *at)
{
    size_t n = beyond_ascii(text + *at, size - *at);
    if (n == 0)
        return escape(out, (unsigned char)text[(*at)++]);
    memcpy(out, text + *at, n);
    *at += n;
    return n;
}

static bool is_file(void)
{
    struct stat status;
    return fstat(STDERR_FILENO, &status) == 0 && S_ISREG(status.st_mode);
}

/* Whether there is room; waits for it, but not where the last line was lost too. */
static bool has_room(void)
{
    struct pollfd poller = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&poller, 1, atomic_load(&lost) ? 0 : PATIENCE_MS) == 1;
}

/* write(2) that does not wait, where the system can do that for what this is. */
static ssize_t write_now(const char *octets, size_t size)
{
    struct iovec piece = {.iov_base = (void *)octets, .iov_len = size};
    ssize_t n = pwritev2(STDERR_FILENO, &piece, 1, -1, RWF_NOWAIT);
    return n < 0 && errno == EOPNOTSUPP ? write(STDERR_FILENO, octets, size) : n;
}

/* Gives whether all of it was written. */
static bool write_line(const char *line, size_t size)
{
    bool waits_never = is_file();
    while (size > 0) {
        if (!waits_never && !has_room())
            return false;
        ssize_t n = waits_never ? write(STDERR_FILENO, line, size)
                                : write_now(line, size < PIECE ? size : PIECE);
        if (n <= 0)
            return false;
        line += n;
        size -= (size_t)n;
    }
    return true;
}

/* Once there is room again. */
static void tell_lost(void)
{
    char line[128];
    unsigned long count = atomic_load(&lost);
    if (count == 0)
        return;
    size_t at = write_prefix(line, sizeof line, LW_LOG_WARN);
    int n = snprintf(line + at, sizeof line - at,
                     "%lu line%s of this log: lost, since nobody read it\n", count,
                     count == 1 ? "" : "s");
    if (n > 0 && write_line(line, at + (size_t)n))
        atomic_fetch_sub(&lost, count);
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
    for (size_t i = 0; i < size;)
        at += write_next(line + at, text, size, &i);
    line[at++] = '\n';
    tell_lost();
    if (!write_line(line, at))
        atomic_fetch_add(&lost, 1);
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
