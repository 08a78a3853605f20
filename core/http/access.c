/* SPDX-License-Identifier: MIT
 *
 * Writes lines of the access log octet by octet, so that no field can leave its
 * place. */
#include "http/access.h"

#include <stdbool.h>
#include <string.h>

#include "base/slice.h"

#define FIXED 512 /* octets of a line besides its slices */

static size_t shown(struct luaweb_slice text)
{
    return text.size < LW_ACCESS_FIELD ? text.size : LW_ACCESS_FIELD;
}

size_t lw_access_bound(const struct lw_access *a)
{
    size_t slices = shown(a->id) + shown(a->trace) + shown(a->peer) + shown(a->method)
                    + shown(a->target) + shown(a->referer) + shown(a->user_agent)
                    + shown(a->resource);
    return FIXED + 6 * slices; /* \u00ff */
}

static char *put(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}

/* A number with at least `width` digits. */
static char *put_number(char *at, uint64_t number, size_t width)
{
    char digits[20];
    size_t size = 0;
    do {
        digits[sizeof digits - ++size] = (char)('0' + number % 10);
        number /= 10;
    } while (number || size < width);
    memcpy(at, digits + sizeof digits - size, size);
    return at + size;
}

static char *put_escape(char *at, const char *prefix, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    at = put(at, prefix);
    *at++ = hex[c >> 4];
    *at++ = hex[c & 15];
    return at;
}

/* `prefix` comes before the two hexadecimal digits of an octet that can't stand as it
 * is. */
static char *put_escaped(char *at, struct luaweb_slice text, const char *prefix)
{
    size_t size = shown(text);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
            at = put_escape(at, prefix, c);
        else
            *at++ = (char)c;
    }
    return size < text.size ? put(at, "...") : at;
}

/* The civil date of a day count since 1970-01-01. */
struct civil {
    int64_t year;
    uint32_t month; /* 1..12 */
    uint32_t day;   /* 1..31 */
};

/* Days are counted from 1 March, so that the leap day is the last one of its year. */
static struct civil civil_of(int64_t days)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    uint32_t day_of_era = (uint32_t)(days - era * 146097);
    uint32_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096)
        / 365;
    uint32_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint32_t shifted = (5 * day_of_year + 2) / 153;
    struct civil civil = {.year = (int64_t)year_of_era + era * 400};
    civil.day = day_of_year - (153 * shifted + 2) / 5 + 1;
    civil.month = shifted < 10 ? shifted + 3 : shifted - 9;
    civil.year += civil.month <= 2;
    return civil;
}

static char *put_clock(char *at, uint32_t second)
{
    at = put_number(at, second / 3600, 2);
    *at++ = ':';
    at = put_number(at, second / 60 % 60, 2);
    *at++ = ':';
    return put_number(at, second % 60, 2);
}

static char *put_combined_time(char *at, int64_t time_ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int64_t seconds = time_ms / 1000;
    struct civil civil = civil_of(seconds / 86400);
    at = put_number(at, civil.day, 2);
    *at++ = '/';
    memcpy(at, months + 3 * (size_t)(civil.month - 1), 3);
    at += 3;
    *at++ = '/';
    at = put_number(at, (uint64_t)civil.year, 4);
    *at++ = ':';
    at = put_clock(at, (uint32_t)(seconds % 86400));
    return put(at, " +0000");
}

static char *put_iso_time(char *at, int64_t time_ms)
{
    int64_t seconds = time_ms / 1000;
    struct civil civil = civil_of(seconds / 86400);
    at = put_number(at, (uint64_t)civil.year, 4);
    *at++ = '-';
    at = put_number(at, civil.month, 2);
    *at++ = '-';
    at = put_number(at, civil.day, 2);
    *at++ = 'T';
    at = put_clock(at, (uint32_t)(seconds % 86400));
    *at++ = '.';
    at = put_number(at, (uint64_t)(time_ms % 1000), 3);
    return put(at, "Z");
}

static char *put_or_dash(char *at, struct luaweb_slice text)
{
    return text.size ? put_escaped(at, text, "\\x") : put(at, "-");
}

static char *put_request_line(char *at, const struct lw_access *a)
{
    if (a->method.size == 0)
        return put(at, "-");
    at = put_escaped(at, a->method, "\\x");
    *at++ = ' ';
    at = put_escaped(at, a->target, "\\x");
    return put(at, a->minor_version ? " HTTP/1.1" : " HTTP/1.0");
}

static char *put_combined(char *at, const struct lw_access *a)
{
    at = put_or_dash(at, a->peer);
    at = put(at, " - - [");
    at = put_combined_time(at, a->time_ms);
    at = put(at, "] \"");
    at = put_request_line(at, a);
    at = put(at, "\" ");
    at = put_number(at, (uint64_t)a->status, 3);
    *at++ = ' ';
    at = put_number(at, a->octets, 1);
    at = put(at, " \"");
    at = put_or_dash(at, a->referer);
    at = put(at, "\" \"");
    at = put_or_dash(at, a->user_agent);
    return put(at, "\"\n");
}

static char *put_string(char *at, const char *name, struct luaweb_slice text)
{
    if (text.size == 0)
        return at;
    at = put(at, name);
    at = put_escaped(at, text, "\\u00");
    return put(at, "\"");
}

static char *put_json(char *at, const struct lw_access *a)
{
    at = put(at, "{\"time\":\"");
    at = put_iso_time(at, a->time_ms);
    at = put(at, "\"");
    at = put_string(at, ",\"id\":\"", a->id);
    at = put_string(at, ",\"trace\":\"", a->trace);
    at = put_string(at, ",\"peer\":\"", a->peer);
    at = put_string(at, ",\"method\":\"", a->method);
    at = put_string(at, ",\"target\":\"", a->target);
    if (a->method.size)
        at =
            put(at, a->minor_version ? ",\"version\":\"1.1\"" : ",\"version\":\"1.0\"");
    at = put(at, ",\"status\":");
    at = put_number(at, (uint64_t)a->status, 1);
    at = put(at, ",\"octets\":");
    at = put_number(at, a->octets, 1);
    at = put(at, ",\"duration\":");
    at = put_number(at, a->duration_us / 1000000, 1);
    *at++ = '.';
    at = put_number(at, a->duration_us % 1000000, 6);
    at = put_string(at, ",\"resource\":\"", a->resource);
    at = put_string(at, ",\"referer\":\"", a->referer);
    at = put_string(at, ",\"user_agent\":\"", a->user_agent);
    return put(at, "}\n");
}

/* Spaces until `width` octets stand behind `from`. */
static char *pad(char *at, const char *from, size_t width)
{
    while ((size_t)(at - from) < width)
        *at++ = ' ';
    return at;
}

/* "0.4 ms", "1.25 s" */
static char *put_duration(char *at, uint64_t duration_us)
{
    if (duration_us < 1000000) {
        at = put_number(at, duration_us / 1000, 1);
        *at++ = '.';
        at = put_number(at, duration_us / 100 % 10, 1);
        return put(at, " ms");
    }
    at = put_number(at, duration_us / 1000000, 1);
    *at++ = '.';
    at = put_number(at, duration_us / 10000 % 100, 2);
    return put(at, " s");
}

static char *put_size(char *at, uint64_t octets)
{
    if (octets < 10000) {
        at = put_number(at, octets, 1);
        return put(at, " B");
    }
    at = put_number(at, octets / 1000, 1);
    return put(at, " kB");
}

/* Of a status, as terminals want it (ECMA-48, SGR). */
static const char *colour_of(int32_t status)
{
    static const char *const colours[] = {"\033[32m", "\033[36m", "\033[33m",
                                          "\033[31m"};
    return status >= 200 && status < 600 ? colours[status / 100 - 2] : "";
}

static char *put_terminal(char *at, const struct lw_access *a, bool is_coloured)
{
    const char *from = at;
    at = pad(put_or_dash(at, a->method), from, 7);
    at = put(at, is_coloured ? colour_of(a->status) : "");
    *at++ = ' ';
    at = put_number(at, (uint64_t)a->status, 3);
    at = put(at, is_coloured ? "\033[0m\033[2m" : "");
    from = at;
    *at++ = ' ';
    at = pad(put_duration(at, a->duration_us), from, 10);
    from = at;
    *at++ = ' ';
    at = pad(put_size(at, a->octets), from, 9);
    at = put(at, is_coloured ? "\033[0m" : "");
    *at++ = ' ';
    at = put_or_dash(at, a->target);
    if (a->resource.size > 0) {
        at = put(at, is_coloured ? "\033[2m  " : "  ");
        at = put_escaped(at, a->resource, "\\x");
        at = put(at, is_coloured ? "\033[0m" : "");
    }
    return put(at, "\n");
}

size_t lw_access_write(const struct lw_access *access, enum lw_access_format format,
                       char *out)
{
    char *end = out;
    switch (format) {
    case LW_ACCESS_COMBINED: end = put_combined(out, access); break;
    case LW_ACCESS_JSON: end = put_json(out, access); break;
    case LW_ACCESS_TERMINAL:
    case LW_ACCESS_COLOURED:
        end = put_terminal(out, access, format == LW_ACCESS_COLOURED);
        break;
    }
    return (size_t)(end - out);
}
