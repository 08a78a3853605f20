/* SPDX-License-Identifier: MIT
 *
 * The demands, one function each. */
#include "route/value.h"

#include <stdint.h>
#include <string.h>

#include "base/slice.h"

#define LARGEST_INTEGER  9007199254740992 /* 2^53: all of them are doubles up to here */
#define LARGEST_EXPONENT 308

static size_t skip_digits(struct luaweb_slice text, size_t at)
{
    while (at < text.size && text.data[at] >= '0' && text.data[at] <= '9')
        at++;
    return at;
}

static bool is_integer(struct luaweb_slice text)
{
    size_t start = text.size > 0 && text.data[0] == '-';
    int64_t number = 0;
    if (start == text.size || skip_digits(text, start) != text.size)
        return false;
    for (size_t at = start; at < text.size && number <= LARGEST_INTEGER; at++)
        number = number * 10 + (text.data[at] - '0');
    return number <= LARGEST_INTEGER;
}

/* Reads "e-12" at `at`, if it is there: its value, within what can matter, and where it
 * ends (`at`: nowhere). */
static int64_t read_exponent(struct luaweb_slice text, size_t at, size_t *end)
{
    int64_t exponent = 0;
    *end = at;
    if (at == text.size || lw_lower(text.data[at]) != 'e')
        return 0;
    size_t digits = at + 1;
    bool is_negative = digits < text.size && text.data[digits] == '-';
    if (digits < text.size && (is_negative || text.data[digits] == '+'))
        digits++;
    size_t stop = skip_digits(text, digits);
    for (size_t i = digits; i < stop && exponent < 100000; i++)
        exponent = exponent * 10 + (text.data[i] - '0');
    *end = stop > digits ? stop : at;
    return is_negative ? -exponent : exponent;
}

static bool is_number(struct luaweb_slice text)
{
    size_t start = text.size > 0 && text.data[0] == '-';
    size_t point = skip_digits(text, start);
    size_t end = point;
    if (point == start)
        return false;
    if (end < text.size && text.data[end] == '.') {
        end = skip_digits(text, point + 1);
        if (end == point + 1)
            return false;
    }
    while (start < point && text.data[start] == '0')
        start++;
    int64_t exponent = read_exponent(text, end, &end);
    return end == text.size && (int64_t)(point - start) + exponent <= LARGEST_EXPONENT;
}

static bool is_uuid(struct luaweb_slice text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (text.size != sizeof form - 1)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        char c = lw_lower(text.data[i]);
        bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (form[i] == '-' ? c != '-' : !is_digit)
            return false;
    }
    return true;
}

bool lw_value_meets(enum luaweb_demand demand, struct luaweb_slice value)
{
    switch (demand) {
    case LUAWEB_DEMAND_INT: return is_integer(value);
    case LUAWEB_DEMAND_NUMBER: return is_number(value);
    case LUAWEB_DEMAND_UUID: return is_uuid(value);
    default: return true;
    }
}
