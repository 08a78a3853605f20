/* SPDX-License-Identifier: MIT
 *
 * Binding what a match found: expression by expression, in each of them variable by
 * variable. */
#include "route/capture.h"

#include <string.h>

#include "base/slice.h"
#include "route/named.h"
#include "route/path.h"

static const struct lw_variable *variables_of(const struct lw_captures *c)
{
    return c->template->variables + c->first;
}

static char separator_of(const struct lw_captures *c)
{
    return lw_operators[c->op].separator;
}

/* Goes to the next variable. */
static void step(struct lw_captures *c)
{
    c->variable++;
    c->mode = LW_CAPTURE_FRESH;
}

void lw_captures_start(struct lw_captures *captures, const struct lw_match *match)
{
    *captures = (struct lw_captures){
        .match = match,
        .template = match->entry->template,
    };
}

/* Opens all expressions of the query as one; false when there are none. */
static bool open_query(struct lw_captures *c)
{
    uint32_t number = c->match->entry->expression_count;
    if (c->is_query || !c->match->query.data || number == c->template->expression_count)
        return false;
    c->is_query = true;
    c->op = c->template->expressions[number].op;
    c->first = c->variable = c->template->expressions[number].first;
    c->end = c->template->variable_count;
    c->text = c->rest = c->match->query;
    return true;
}

/* Opens the next expression that has some text; false at the end. */
static bool open_expression(struct lw_captures *c)
{
    while (c->expression < c->match->entry->expression_count) {
        uint32_t number = c->expression++;
        const struct lw_expression *expression = &c->template->expressions[number];
        struct lw_span span = c->match->spans[number];
        if (span.start == span.end)
            continue;
        span.start += lw_operators[expression->op].first != 0;
        c->op = expression->op;
        c->first = c->variable = expression->first;
        c->end = c->first + expression->count;
        c->text = c->rest =
            lw_slice(c->match->text.data + span.start, span.end - span.start);
        return true;
    }
    return open_query(c);
}

static bool give(struct lw_captures *c, struct lw_capture *capture, uint32_t kind,
                 struct luaweb_slice value)
{
    capture->variable = c->variable;
    capture->kind = kind;
    capture->is_query = c->is_query;
    capture->key = lw_slice(NULL, 0);
    capture->value = value;
    return true;
}

/* Gives the value of a variable that is not exploded: commas make it a list. */
static bool give_value(struct lw_captures *c, struct lw_capture *capture,
                       struct luaweb_slice value)
{
    bool can_divide = c->template->variables[c->variable].prefix == 0;
    if (can_divide && value.size > 0 && memchr(value.data, ',', value.size)) {
        c->list = value;
        c->mode = LW_CAPTURE_LIST;
        return give(c, capture, LUAWEB_PARAM_ITEM, lw_path_cut(&c->list, ','));
    }
    give(c, capture, LUAWEB_PARAM_TEXT, value);
    step(c);
    return true;
}

static bool next_positional(struct lw_captures *c, struct lw_capture *capture)
{
    if (!c->rest.data || c->variable == c->end)
        return false;
    char separator = separator_of(c);
    if (c->template->variables[c->variable].is_exploded)
        return give(c, capture, LUAWEB_PARAM_ITEM, lw_path_cut(&c->rest, separator));
    bool takes_rest = c->variable + 1 == c->end && separator == ',';
    struct luaweb_slice value = c->rest;
    if (takes_rest)
        c->rest.data = NULL;
    else
        value = lw_path_cut(&c->rest, separator);
    return give_value(c, capture, value);
}

/* Finds the next item of this name in what is left. */
static bool find_named(struct lw_captures *c, struct luaweb_field *item)
{
    struct luaweb_slice key = c->template->variables[c->variable].key;
    while (lw_named_next(&c->rest, separator_of(c), item))
        if (lw_slice_equal(item->name, key))
            return true;
    return false;
}

/* Finds the next item that belongs to no variable. */
static bool find_other(struct lw_captures *c, struct luaweb_field *item)
{
    uint32_t count = c->end - c->first;
    while (lw_named_next(&c->rest, separator_of(c), item))
        if (item->name.size > 0
            && lw_named_find(variables_of(c), count, item->name) == count)
            return true;
    return false;
}

static bool next_pair(struct lw_captures *c, struct lw_capture *capture)
{
    struct luaweb_field item;
    if (!find_other(c, &item))
        return false;
    give(c, capture, LUAWEB_PARAM_PAIR, item.value);
    capture->key = item.name;
    return true;
}

/* Begins with a variable: false when it has no value. */
static bool begin_named(struct lw_captures *c, struct lw_capture *capture)
{
    bool is_exploded = c->template->variables[c->variable].is_exploded;
    struct luaweb_field item;
    c->rest = c->text;
    if (find_named(c, &item)) {
        if (!is_exploded)
            return give_value(c, capture, item.value);
        c->mode = LW_CAPTURE_ITEMS;
        return give(c, capture, LUAWEB_PARAM_ITEM, item.value);
    }
    if (!is_exploded || c->has_map)
        return false;
    c->has_map = true;
    c->mode = LW_CAPTURE_PAIRS;
    c->rest = c->text;
    return next_pair(c, capture);
}

static bool next_named(struct lw_captures *c, struct lw_capture *capture)
{
    struct luaweb_field item;
    for (; c->variable < c->end; step(c)) {
        if (c->mode == LW_CAPTURE_FRESH && begin_named(c, capture))
            return true;
        if (c->mode == LW_CAPTURE_PAIRS && next_pair(c, capture))
            return true;
        if (c->mode == LW_CAPTURE_ITEMS && find_named(c, &item))
            return give(c, capture, LUAWEB_PARAM_ITEM, item.value);
    }
    return false;
}

/* The items of a list of commas; the last of them ends the variable. */
static bool next_of_list(struct lw_captures *c, struct lw_capture *capture)
{
    give(c, capture, LUAWEB_PARAM_ITEM, lw_path_cut(&c->list, ','));
    if (c->list.data)
        return true;
    step(c);
    return true;
}

bool lw_captures_next(struct lw_captures *captures, struct lw_capture *capture)
{
    if (captures->mode == LW_CAPTURE_LIST)
        return next_of_list(captures, capture);
    for (;;) {
        bool is_open = captures->variable < captures->end;
        bool is_named = lw_operators[captures->op].is_named;
        if (is_open
            && (is_named ? next_named(captures, capture)
                         : next_positional(captures, capture)))
            return true;
        if (!open_expression(captures))
            return false;
        captures->mode = LW_CAPTURE_FRESH;
        captures->has_map = false;
    }
}
