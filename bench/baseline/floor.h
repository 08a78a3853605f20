/* SPDX-License-Identifier: MIT
 *
 * What the floors share: the answer that they always give, and the search for the blank
 * line (CR LF CR LF) that they take for the end of a request.  No HTTP is read here. */
#ifndef LW_BENCH_FLOOR_H
#define LW_BENCH_FLOOR_H

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define FLOOR_ROOM    65536 /* octets of one read */
#define FLOOR_ANSWERS 512   /* answers of one write, at most */

static const char floor_answer[] = "HTTP/1.1 200 OK\r\n"
                                   "Server: f\r\n"
                                   "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
                                   "Content-Type: text/plain; charset=utf-8\r\n"
                                   "Content-Length: 12\r\n\r\n"
                                   "Hello, fred!";

#define FLOOR_SIZE (sizeof floor_answer - 1)

static_assert(FLOOR_SIZE == 140, "the floors answer 140 octets");

static char floor_answers[FLOOR_ANSWERS * FLOOR_SIZE];

/* Fills floor_answers; to be called once at start. */
static void floor_prepare(void)
{
    for (size_t i = 0; i < FLOOR_ANSWERS; i++)
        memcpy(floor_answers + i * FLOOR_SIZE, floor_answer, FLOOR_SIZE);
}

/* Counts the blank lines that end in `data`.  `matched` keeps how much of one was seen
 * at the end of the read before. */
static unsigned floor_count(unsigned *matched, const char *data, size_t size)
{
    static const char end[] = "\r\n\r\n";
    unsigned found = 0;
    for (size_t i = 0; i < size; i++) {
        if (data[i] == end[*matched])
            ++*matched;
        else
            *matched = data[i] == '\r';
        if (*matched == sizeof end - 1) {
            *matched = 0;
            found++;
        }
    }
    return found;
}

#endif
