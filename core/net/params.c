/* SPDX-License-Identifier: MIT
 *
 * Copies the captured values into the arena of the request, percent-decoded once.
 * Those of the query are decoded as forms are, as req.query gives them (WHATWG URL
 * §5.1): what RFC 6570 expands to is read back the same. */
#include "net/params.h"

#include <string.h>

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

static void fill(struct luaweb_param *param, struct lw_arena *arena,
                 const struct lw_decision *decision, const struct lw_capture *capture)
{
    uint8_t demand = decision->demands[capture->variable];
    const struct lw_template *template = decision->match.entry->template;
    param->name = template->variables[capture->variable].name;
    param->kind = capture->kind;
    param->is_number = demand == LUAWEB_DEMAND_INT || demand == LUAWEB_DEMAND_NUMBER;
    param->key = lw_slice(NULL, 0);
    if (capture->kind == LUAWEB_PARAM_PAIR)
        param->key = decode(arena, capture->key, capture->is_query);
    param->value = decode(arena, capture->value, capture->is_query);
}

/* A list of twice the size; what it outgrows is lost until the reset. */
static struct luaweb_param *grow(struct lw_arena *arena,
                                 const struct luaweb_param *list, uint32_t count)
{
    size_t size = count * sizeof *list;
    struct luaweb_param *more = lw_arena_alloc(arena, 2 * size);
    memcpy(more, list, size);
    return more;
}

/* Mostly there is one value for each variable: the list grows only for more of them. */
void lw_params_fill(struct lw_request *request, const struct lw_decision *decision)
{
    struct lw_arena *arena = &request->arena;
    uint32_t capacity = decision->match.entry->template->variable_count;
    uint32_t count = 0;
    struct lw_captures captures;
    struct lw_capture capture;
    if (capacity == 0)
        return;
    struct luaweb_param *list = lw_arena_alloc(arena, capacity * sizeof *list);
    lw_captures_start(&captures, &decision->match);
    while (lw_captures_next(&captures, &capture)) {
        if (count == capacity) {
            list = grow(arena, list, count);
            capacity *= 2;
        }
        fill(&list[count++], arena, decision, &capture);
    }
    request->facts.params = (struct luaweb_params){list, count};
}
