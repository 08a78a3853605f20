/* SPDX-License-Identifier: MIT
 *
 * Copies the captured values into the arena of the request, percent-decoded once.
 * Those of the query are decoded as forms are, as req.query gives them (WHATWG URL
 * §5.1): what RFC 6570 expands to is read back the same. */
#include "net/params.h"

#include "base/slice.h"
#include "http/percent.h"
#include "route/capture.h"

static struct luaweb_slice decode(struct lw_arena *arena, struct luaweb_slice raw,
                                  bool is_query)
{
    char *out = lw_arena_alloc(arena, raw.size);
    size_t size = 0;
    if (is_query)
        size = lw_percent_decode_form(raw, out);
    else
        lw_percent_decode(raw, out, &size); /* the path is in normal form */
    return lw_slice(out, size);
}

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

void lw_params_fill(struct lw_request *request, const struct lw_decision *decision)
{
    const struct lw_match *match = &decision->match;
    uint32_t count = count_captures(match);
    struct lw_captures captures;
    struct lw_capture capture;
    if (count == 0)
        return;
    struct luaweb_param *list = lw_arena_alloc(&request->arena, count * sizeof *list);
    lw_captures_start(&captures, match);
    for (uint32_t i = 0; i < count && lw_captures_next(&captures, &capture); i++) {
        uint8_t demand = decision->demands[capture.variable];
        list[i].name = match->entry->template->variables[capture.variable].name;
        list[i].kind = capture.kind;
        list[i].is_number =
            demand == LUAWEB_DEMAND_INT || demand == LUAWEB_DEMAND_NUMBER;
        list[i].key = lw_slice(NULL, 0);
        if (capture.kind == LUAWEB_PARAM_PAIR)
            list[i].key = decode(&request->arena, capture.key, capture.is_query);
        list[i].value = decode(&request->arena, capture.value, capture.is_query);
    }
    request->facts.params = (struct luaweb_params){list, count};
}
