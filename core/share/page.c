/* SPDX-License-Identifier: MIT
 *
 * Text that grows. */
#include "share/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/utf8.h"

#define LINE 1024

char *lw_page_room(struct lw_page *page, size_t size)
{
    if (page->capacity - page->size < size) {
        size_t capacity = page->capacity ? page->capacity * 2 : 4096;
        while (capacity - page->size < size)
            capacity *= 2;
        page->data = lw_realloc(page->data, capacity);
        page->capacity = capacity;
    }
    char *at = page->data + page->size;
    page->size += size;
    return at;
}

void lw_page_text(struct lw_page *page, const char *text, size_t size)
{
    memcpy(lw_page_room(page, size), text, size);
}

void lw_page_add(struct lw_page *page, const char *format, ...)
{
    char *at = lw_page_room(page, LINE);
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(at, LINE, format, arguments);
    va_end(arguments);
    size_t size = n < 0 ? 0 : n < LINE ? (size_t)n : LINE - 1;
    page->size -= LINE - size;
}

void lw_page_count(struct lw_page *page, uint64_t count)
{
    char text[20];
    size_t at = sizeof text;
    do
        text[--at] = (char)('0' + count % 10);
    while (count /= 10);
    lw_page_text(page, text + at, sizeof text - at);
}

void lw_page_number(struct lw_page *page, double number)
{
    char text[40];
    if (!isfinite(number)) {
        lw_page_add(page, "%s", isnan(number) ? "NaN" : number < 0 ? "-Inf" : "+Inf");
        return;
    }
    snprintf(text, sizeof text, "%.15g", number);
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i++)
        if (!strchr("0123456789+-e", text[i]))
            text[i] = '.';
    lw_page_text(page, text, size);
}

void lw_page_value(struct lw_page *page, const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t character = lw_utf8_size(text + i, size - i);
        if (character == 0)
            lw_page_text(page, "\xef\xbf\xbd", 3);
        else if (text[i] == '\n')
            lw_page_text(page, "\\n", 2);
        else {
            if (text[i] == '\\' || text[i] == '"')
                lw_page_text(page, "\\", 1);
            lw_page_text(page, text + i, character);
        }
        i += character ? character : 1;
    }
}

void lw_page_free(struct lw_page *page)
{
    free(page->data);
    *page = (struct lw_page){.size = 0};
}
