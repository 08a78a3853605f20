/* SPDX-License-Identifier: MIT
 *
 * What a match costs: nanoseconds for random paths among 10, 100, 1,000 and 10,000
 * templates of the same kinds, and how many steps the search took.  Prints a table; no
 * load on anything but one core. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/require.h"
#include "base/slice.h"
#include "route/capture.h"
#include "route/path.h"
#include "route/router.h"

#define PATHS  16384
#define ROUNDS 64

/* Kinds of templates; $ is a word of the template's own, # (in paths) a random value. */
static const char *const kinds[] = {
    "/$",
    "/$/{id}",
    "/$/{id}/$",
    "/$/{id}/$/{part}",
    "/api/v1/$/{id}",
    "/api/v1/$/{id}/edit",
    "/api/{version}/$/{id}/items{/item}",
    "/files/$/{+path}",
    "/$/{name}.{format}",
    "/{tenant}/$/{id}",
};

static const char *const nouns[] = {
    "users",    "orders", "items",    "teams", "reports", "messages", "invoices",
    "products", "events", "comments", "tags",  "images",  "accounts", "sessions",
};

static uint64_t state = 88172645463325252u;

static uint32_t random_below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % limit;
}

/* The word of a template, as long for few templates as for many. */
static size_t write_word(char *out, uint32_t number)
{
    uint32_t mixed = number * 2654435761u;
    return (size_t)sprintf(out, "%s-%c%c%c%c", nouns[number % 14], 'a' + mixed % 26,
                           'a' + mixed / 26 % 26, 'a' + mixed / 676 % 26,
                           'a' + mixed / 17576 % 26);
}

static size_t write_template(char *out, uint32_t number)
{
    size_t size = 0;
    for (const char *at = kinds[number % 10]; *at; at++) {
        if (*at == '$')
            size += write_word(out + size, number);
        else
            out[size++] = *at;
    }
    return size;
}

/* A path that the template matches. */
static size_t write_path(char *out, uint32_t number)
{
    size_t size = 0;
    for (const char *at = kinds[number % 10]; *at; at++) {
        if (*at == '$') {
            size += write_word(out + size, number);
        } else if (*at == '{') {
            size += (size_t)sprintf(out + size, at[1] == '/' ? "/%u" : "%u",
                                    random_below(100000));
            at = strchr(at, '}');
        } else {
            out[size++] = *at;
        }
    }
    return size;
}

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

struct result {
    double match_ns;
    double capture_ns; /* with all values */
    double steps;
    double octets; /* of a path */
};

static uint32_t count_captures(const struct lw_match *match)
{
    struct lw_captures captures;
    struct lw_capture capture;
    uint32_t count = 0;
    lw_captures_start(&captures, match);
    while (lw_captures_next(&captures, &capture))
        count++;
    return count;
}

/* Nanoseconds for a path, the best of some rounds. */
static double measure(const struct lw_router *router, const struct luaweb_slice *paths,
                      bool with_captures, double *steps)
{
    double best = 1e18;
    uint64_t captured = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t taken = 0;
        double start = now_ns();
        for (uint32_t i = 0; i < PATHS; i++) {
            struct lw_match match;
            lw_require(lw_path_is_normal(paths[i]));
            lw_require(lw_router_match(router, paths[i], &match));
            taken += match.steps;
            if (with_captures)
                captured += count_captures(&match);
        }
        double ns = (now_ns() - start) / PATHS;
        best = ns < best ? ns : best;
        *steps = (double)taken / PATHS;
    }
    lw_require(!with_captures || captured > 0);
    return best;
}

static struct result run(uint32_t count)
{
    struct lw_router router;
    struct lw_refusal refusal;
    int32_t hidden, winner;
    char text[256];
    char *octets = lw_alloc(PATHS * sizeof text);
    struct luaweb_slice *paths = lw_alloc(PATHS * sizeof *paths);
    size_t used = 0;

    lw_router_construct(&router);
    for (uint32_t i = 0; i < count; i++)
        lw_require(
            lw_router_add(&router, lw_slice(text, write_template(text, i)), &refusal)
            == (int32_t)i);
    lw_require(lw_router_build(&router, &hidden, &winner));
    for (uint32_t i = 0; i < PATHS; i++) {
        size_t size = write_path(octets + used, random_below(count));
        paths[i] = lw_slice(octets + used, size);
        used += size;
    }
    struct result result = {.octets = (double)used / PATHS};
    result.match_ns = measure(&router, paths, false, &result.steps);
    result.capture_ns = measure(&router, paths, true, &result.steps);
    lw_router_destruct(&router);
    free(octets);
    free(paths);
    return result;
}

int main(void)
{
    static const uint32_t counts[] = {10, 100, 1000, 10000};
    double first = 0;
    puts("templates   match   with values   to 10   steps   octets of a path");
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct result r = run(counts[i]);
        first = i == 0 ? r.match_ns : first;
        printf("%9u %4.0f ns %10.0f ns %6.2fx %7.1f %18.1f\n", counts[i], r.match_ns,
               r.capture_ns, r.match_ns / first, r.steps, r.octets);
    }
    return 0;
}
