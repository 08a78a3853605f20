/* SPDX-License-Identifier: MIT
 *
 * HTTP-date.  The calendar is counted in days from 0000-01-01 of the proleptic
 * Gregorian calendar, so that no year that can be written is negative.  Owns nothing;
 * never asks for the time.  RFC 9110 §5.6.7. */
#include "base/date.h"

#define SECONDS_PER_DAY INT64_C(86400)
#define EPOCH_DAY       INT64_C(719528) /* 1970-01-01, counted from 0000-01-01 */
#define FIRST_SECOND    (-EPOCH_DAY * SECONDS_PER_DAY)
#define LAST_SECOND     INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

#define FIRST_WEEKDAY 6  /* 0000-01-01 was a Saturday */
#define YEARS_AHEAD   50 /* how far a two-digit year may lie ahead */
#define SHORT_NAME    3  /* octets of an abbreviated name */

struct civil {
    int64_t year; /* 0.. */
    int month;    /* 1..12 */
    int day;      /* 1..31 */
    int hour, minute, second;
    int weekday; /* 0 is Sunday */
};

static const char *const weekday_names[] = {
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
};

static const char *const month_names[] = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
};

/* Days before each month, the last entry being the whole year. */
static const int days_before_month[2][13] = {
    {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365},
    {0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366},
};

/* The three forms, in the letters of strptime. */
static const struct form {
    const char *layout;
    bool has_short_year;
} forms[] = {
    {"%a, %d %b %Y %H:%M:%S GMT", false}, /* IMF-fixdate */
    {"%A, %d-%b-%y %H:%M:%S GMT", true }, /* obsolete: RFC 850 */
    {"%a %b %e %H:%M:%S %Y",      false}, /* obsolete: asctime */
};

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_before_year(int64_t year)
{
    if (year == 0)
        return 0;
    int64_t past = year - 1; /* the leap years up to it, and year 0 */
    return year * 365 + past / 4 - past / 100 + past / 400 + 1;
}

static int64_t civil_to_epoch(const struct civil *date)
{
    int64_t days = days_before_year(date->year)
                   + days_before_month[is_leap(date->year)][date->month - 1] + date->day
                   - 1 - EPOCH_DAY;
    int second = (date->hour * 60 + date->minute) * 60 + date->second;
    return days * SECONDS_PER_DAY + second;
}

/* `epoch` is between FIRST_SECOND and LAST_SECOND. */
static struct civil civil_from_epoch(int64_t epoch)
{
    int64_t days = (epoch - FIRST_SECOND) / SECONDS_PER_DAY;
    int second = (int)((epoch - FIRST_SECOND) % SECONDS_PER_DAY);
    struct civil date = {.weekday = (int)((days + FIRST_WEEKDAY) % 7)};

    date.year = days * 400 / 146097 + 1; /* never too early, at most two years late */
    while (days_before_year(date.year) > days)
        date.year--;

    int day = (int)(days - days_before_year(date.year));
    const int *before = days_before_month[is_leap(date.year)];
    date.month = 1;
    while (before[date.month] <= day)
        date.month++;

    date.day = day - before[date.month - 1] + 1;
    date.hour = second / 3600;
    date.minute = second / 60 % 60;
    date.second = second % 60;
    return date;
}

static void write_number(char *out, int digits, int64_t value)
{
    for (int i = digits - 1; i >= 0; i--) {
        out[i] = (char)('0' + value % 10);
        value /= 10;
    }
}

bool lw_date_format(int64_t epoch, char out[29])
{
    if (epoch < FIRST_SECOND || epoch > LAST_SECOND)
        return false;
    static const char example[] = "Thu, 01 Jan 1970 00:00:00 GMT";
    struct civil date = civil_from_epoch(epoch);
    memcpy(out, example, sizeof example - 1);
    memcpy(out, weekday_names[date.weekday], SHORT_NAME);
    write_number(out + 5, 2, date.day);
    memcpy(out + 8, month_names[date.month - 1], SHORT_NAME);
    write_number(out + 12, 4, date.year);
    write_number(out + 17, 2, date.hour);
    write_number(out + 20, 2, date.minute);
    write_number(out + 23, 2, date.second);
    return true;
}

static void skip(struct luaweb_slice *text, size_t size)
{
    text->data += size;
    text->size -= size;
}

static bool read_octet(struct luaweb_slice *text, char octet)
{
    if (text->size == 0 || text->data[0] != octet)
        return false;
    skip(text, 1);
    return true;
}

static bool read_number(struct luaweb_slice *text, size_t digits, int *number)
{
    if (text->size < digits)
        return false;
    *number = 0;
    for (size_t i = 0; i < digits; i++) {
        char c = text->data[i];
        if (c < '0' || c > '9')
            return false;
        *number = *number * 10 + (c - '0');
    }
    skip(text, digits);
    return true;
}

static bool read_year(struct luaweb_slice *text, size_t digits, int64_t *year)
{
    int number = 0;
    if (!read_number(text, digits, &number))
        return false;
    *year = number;
    return true;
}

/* Finds the weekday whose name begins `text`, whole or abbreviated. */
static bool read_weekday(struct luaweb_slice *text, bool is_short, int *weekday)
{
    for (int i = 0; i < 7; i++) {
        size_t size = is_short ? SHORT_NAME : strlen(weekday_names[i]);
        if (text->size < size || memcmp(text->data, weekday_names[i], size) != 0)
            continue;
        skip(text, size);
        *weekday = i;
        return true;
    }
    return false;
}

static bool read_month(struct luaweb_slice *text, int *month)
{
    if (text->size < SHORT_NAME)
        return false;
    for (int i = 0; i < 12; i++) {
        if (memcmp(text->data, month_names[i], SHORT_NAME) != 0)
            continue;
        skip(text, SHORT_NAME);
        *month = i + 1;
        return true;
    }
    return false;
}

static bool read_item(struct luaweb_slice *text, char item, struct civil *date)
{
    switch (item) {
    case 'a': return read_weekday(text, true, &date->weekday);
    case 'A': return read_weekday(text, false, &date->weekday);
    case 'b': return read_month(text, &date->month);
    case 'd': return read_number(text, 2, &date->day);
    case 'e': return read_number(text, read_octet(text, ' ') ? 1 : 2, &date->day);
    case 'Y': return read_year(text, 4, &date->year);
    case 'y': return read_year(text, 2, &date->year);
    case 'H': return read_number(text, 2, &date->hour);
    case 'M': return read_number(text, 2, &date->minute);
    case 'S': return read_number(text, 2, &date->second);
    default: return false;
    }
}

static bool read_layout(struct luaweb_slice text, const char *layout,
                        struct civil *date)
{
    for (const char *at = layout; *at != '\0'; at++) {
        bool is_read =
            *at == '%' ? read_item(&text, *++at, date) : read_octet(&text, *at);
        if (!is_read)
            return false;
    }
    return text.size == 0;
}

/* Gives a two-digit year its century: the latest that puts the date not more than 50
 * years after `now`. */
static void choose_century(struct civil *date, int64_t now)
{
    if (now < FIRST_SECOND)
        now = FIRST_SECOND;
    if (now > LAST_SECOND)
        now = LAST_SECOND;
    struct civil horizon = civil_from_epoch(now);
    horizon.year += YEARS_AHEAD;

    date->year = horizon.year - (horizon.year + 100 - date->year) % 100;
    if (date->year >= 0 && civil_to_epoch(date) > civil_to_epoch(&horizon))
        date->year -= 100;
}

/* RFC 9110 §5.6.7: 00:00:00 to 23:59:60, which is a leap second. */
static bool is_possible(const struct civil *date)
{
    if (date->year < 0 || date->day < 1)
        return false;
    const int *before = days_before_month[is_leap(date->year)];
    return date->day <= before[date->month] - before[date->month - 1]
           && date->hour <= 23 && date->minute <= 59 && date->second <= 60;
}

bool lw_date_parse(struct luaweb_slice text, int64_t now, int64_t *epoch)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct civil date = {.month = 1, .day = 1};
        if (!read_layout(text, forms[i].layout, &date))
            continue;
        if (forms[i].has_short_year)
            choose_century(&date, now);
        if (!is_possible(&date))
            return false;
        int64_t seconds = civil_to_epoch(&date);
        if (seconds > LAST_SECOND) /* the leap second of the last day */
            return false;
        *epoch = seconds;
        return true;
    }
    return false;
}
