/* SPDX-License-Identifier: MIT
 *
 * A page: text that is put together, as long as it comes to be. */
#ifndef LW_SHARE_PAGE_H
#define LW_SHARE_PAGE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed, it is empty. */
struct lw_page {
    char *data; /* owned until lw_page_free; no NUL behind it */
    size_t size;
    size_t capacity;
};

/* Room for `size` more octets, to be written at once; page->size grows by them. */
char *lw_page_room(struct lw_page *page, size_t size);

/* Adds text as printf makes it, at most 1,023 octets at once. */
void lw_page_add(struct lw_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds octets as they are. */
void lw_page_text(struct lw_page *page, const char *text, size_t size);

/* Adds a whole number. */
void lw_page_count(struct lw_page *page, uint64_t count);

/* Adds a number in its shortest form of 15 digits, with a point in every locale. */
void lw_page_number(struct lw_page *page, double number);

/* Adds text as the value of a label: \, " and the line feed are escaped, and what is no
 * UTF-8 becomes U+FFFD. */
void lw_page_value(struct lw_page *page, const char *text, size_t size);

void lw_page_free(struct lw_page *page);

#endif
