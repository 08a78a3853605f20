/* SPDX-License-Identifier: MIT
 *
 * Fuzzes negotiation.  The first octet of the input names the dimension; lines follow,
 * those before the first empty one of the field, the others offers.  What is chosen has
 * the highest weight, of equals it is the first; nothing is chosen only where nothing
 * is acceptable; what says nothing changes nothing.  RFC 9110 §12.5. */
#include <stdlib.h>

#include "base/require.h"
#include "base/slice.h"
#include "http/accept.h"

#define MAX_LINES  16
#define MAX_OFFERS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* clang-format off */
static const struct luaweb_slice names[] = {
    [LW_ACCEPT_MEDIA_TYPE] = {"Accept",          sizeof("Accept") - 1},
    [LW_ACCEPT_LANGUAGE]   = {"accept-language", sizeof("accept-language") - 1},
    [LW_ACCEPT_CHARSET]    = {"ACCEPT-CHARSET",  sizeof("ACCEPT-CHARSET") - 1},
    [LW_ACCEPT_CODING]     = {"Accept-Encoding", sizeof("Accept-Encoding") - 1},
};
/* clang-format on */

struct input {
    enum lw_accept dimension;
    struct luaweb_field lines[MAX_LINES + 1];
    uint32_t line_count;
    struct luaweb_slice offers[MAX_OFFERS]; /* owned */
    uint32_t offer_count;
};

/* A copy of its own, so that no octet beyond its end is read unseen. */
static struct luaweb_slice copy_of(struct luaweb_slice text)
{
    char *data = lw_alloc(text.size + !text.size);
    if (text.size > 0)
        memcpy(data, text.data, text.size);
    return lw_slice(data, text.size);
}

static struct luaweb_slice take_line(struct luaweb_slice *rest)
{
    const char *feed = rest->size > 0 ? memchr(rest->data, '\n', rest->size) : NULL;
    size_t size = feed ? (size_t)(feed - rest->data) : rest->size;
    struct luaweb_slice line = lw_slice(rest->data, size);
    size += feed != NULL;
    *rest = lw_slice(rest->data + size, rest->size - size);
    return line;
}

static void read_input(struct luaweb_slice rest, struct input *input)
{
    input->line_count = 0;
    input->offer_count = 0;
    struct luaweb_slice line = take_line(&rest);
    while (line.size > 0 && input->line_count < MAX_LINES) {
        struct luaweb_field field = {names[input->dimension], copy_of(line)};
        input->lines[input->line_count++] = field;
        line = take_line(&rest);
    }
    while (rest.size > 0 && input->offer_count < MAX_OFFERS)
        input->offers[input->offer_count++] = copy_of(take_line(&rest));
}

static int quality(const struct input *input, struct luaweb_slice offer)
{
    struct luaweb_fields headers = {input->lines, input->line_count};
    int weight = lw_accept_quality(input->dimension, headers, offer);
    lw_require(weight >= 0 && weight <= 1000);
    lw_require(input->line_count > 0 || weight == 1000);
    return weight;
}

static int choose(const struct input *input)
{
    struct luaweb_fields headers = {input->lines, input->line_count};
    int chosen =
        lw_accept_choose(input->dimension, headers, input->offers, input->offer_count);
    lw_require(chosen >= -1 && chosen < (int)input->offer_count);
    return chosen;
}

/* An identity of weight 1 may be one that the client does not speak of: then it is
 * chosen after another of weight 1 that follows. */
static void check_choice(const struct input *input, int chosen)
{
    int most = chosen < 0 ? 0 : quality(input, input->offers[chosen]);
    lw_require(chosen < 0 || most > 0);
    for (int i = 0; i < (int)input->offer_count; i++) {
        int weight = quality(input, input->offers[i]);
        lw_require(weight <= most);
        if (i < chosen && weight == most)
            lw_require(input->dimension == LW_ACCEPT_CODING && most == 1);
    }
}

static void check_coding(const struct input *input)
{
    struct luaweb_fields headers = {input->lines, input->line_count};
    int identity = quality(input, LW_SLICE("identity"));
    int chosen = lw_accept_choose_coding(headers, input->offers, input->offer_count);
    lw_require(chosen >= -1 && chosen < (int)input->offer_count);
    lw_require(lw_accept_identity(headers) == (identity > 0));
    if (chosen >= 0) {
        check_choice(input, chosen);
        lw_require(quality(input, input->offers[chosen]) >= identity);
        return;
    }
    for (uint32_t i = 0; i < input->offer_count; i++)
        lw_require(quality(input, input->offers[i]) <= identity);
}

static void destroy(struct input *input)
{
    for (uint32_t i = 0; i < input->line_count; i++)
        free((char *)input->lines[i].value.data);
    for (uint32_t i = 0; i < input->offer_count; i++)
        free((char *)input->offers[i].data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct input input = {.dimension = (enum lw_accept)(data[0] & 3)};
    read_input(lw_slice((const char *)data + 1, size - 1), &input);
    int chosen = choose(&input);
    check_choice(&input, chosen);
    if (input.dimension == LW_ACCEPT_CODING)
        check_coding(&input);
    if (input.line_count > 0) {
        struct luaweb_field nothing = {names[input.dimension], copy_of(LW_SLICE(" ,"))};
        input.lines[input.line_count++] = nothing;
        lw_require(choose(&input) == chosen);
    }
    destroy(&input);
    return 0;
}
