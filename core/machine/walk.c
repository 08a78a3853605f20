/* SPDX-License-Identifier: MIT
 *
 * Walking. */
#include "machine/walk.h"

#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "machine/answers.h"
#include "machine/core.h"
#include "machine/fields.h"

/* A limit that the app has set; what is no number of octets is none at all. */
uint64_t lw_limit_of(double number)
{
    if (!(number >= 0))
        return 0;
    return number < 9e15 ? (uint64_t)number : (uint64_t)INT64_MAX;
}

void lw_walk_begin(struct lw_walk *walk, const struct lw_machine *machine,
                   const struct lw_method *method)
{
    const struct lw_handler *constant = NULL;
    walk->machine = machine;
    walk->method = method;
    walk->plan = method->program;
    walk->at = walk->plan->start;
    walk->facts = walk->plan->facts;
    walk->size = UINT64_MAX;
    walk->is_gate = machine->gate != 0;
    if (machine->handler_count > 0 && !method->reply)
        constant = lw_machine_handler(machine, 200);
    if (constant)
        walk->size = constant->text.size;
    const struct lw_value *limit = &machine->values[LUAWEB_BODY_LIMIT];
    if (lw_machine_has(machine, LUAWEB_BODY_LIMIT) && !limit->function)
        walk->content.limit = lw_limit_of(limit->number);
    if (walk->trace) {
        walk->trace->count = 0;
        walk->trace->walk = walk;
        walk->trace->machine = machine;
        walk->trace->method = method;
        walk->trace->end = (struct lw_terminal){0, 0};
    }
}

static void note(struct lw_walk *walk, int answer)
{
    struct lw_trace *trace = walk->trace;
    if (trace && trace->walk == walk && trace->count < LW_GRAPH_ROWS)
        trace->entries[trace->count++] =
            (struct lw_trace_entry){walk->row, (int16_t)answer};
}

static void note_end(struct lw_walk *walk)
{
    struct lw_trace *trace = walk->trace;
    if (trace && trace->walk == walk)
        trace->end = (struct lw_terminal){walk->row, walk->status};
}

void lw_walk_end(struct lw_walk *walk, int status)
{
    walk->status = (uint16_t)status;
    note_end(walk);
}

bool lw_walk_is_regular(const struct lw_walk *walk)
{
    const struct luaweb_row *row = &walk->machine->graph->rows[walk->row].given;
    return row->yes == -walk->status || row->no == -walk->status;
}

/* What an answer tells the rows that use it later. */
static void remember(struct lw_walk *walk, bool is_yes)
{
    const struct lw_graph *graph = walk->machine->graph;
    if (walk->row == graph->exists)
        walk->facts |= is_yes ? LW_FACT_EXISTS : LW_FACT_MISSING;
    else if (walk->row == graph->origin_allowed && is_yes)
        walk->facts |= LW_FACT_ORIGIN_ALLOWED;
}

/* Whether the walk is at has_reply, where what makes the representation runs. */
static bool is_at_reply(const struct lw_walk *walk)
{
    if (walk->at & LW_TERMINAL)
        return false;
    const struct lw_core *core = walk->machine->graph->rows[walk->row].core;
    return core && core->answer == lw_answer_has_reply;
}

/* Whether has_reply is asked of the app, which answers before anything is made. */
static bool asks_app(const struct lw_walk *walk)
{
    return walk->plan->steps[walk->at].by == LW_BY_APP
           && !(walk->facts & LW_FACT_WANTED);
}

/* Whether this is the answer of what makes the representation, for which 200 is a yes:
 * only other statuses are out of reach for ranges. */
static bool is_reply(const struct lw_walk *walk, int status)
{
    return status == 200 && is_at_reply(walk) && !asks_app(walk);
}

void lw_walk_answer(struct lw_walk *walk, int answer)
{
    lw_require(!(walk->at & LW_TERMINAL));
    if (is_reply(walk, answer)) {
        walk->facts |= LW_FACT_EMPTY;
        walk->size = 0;
        answer = LUAWEB_ANSWER_YES;
    }
    if (answer == LUAWEB_ANSWER_YES && is_at_reply(walk) && asks_app(walk)) {
        walk->facts |= LW_FACT_WANTED;
        return;
    }
    note(walk, answer);
    if (answer >= 200) {
        walk->status = (uint16_t)answer;
        walk->at = LW_TERMINAL;
        return;
    }
    if (answer == LUAWEB_ANSWER_KEPT)
        walk->facts |= LW_FACT_KEPT;
    const struct lw_step *step = &walk->plan->steps[walk->at];
    remember(walk, answer != LUAWEB_ANSWER_NO);
    walk->at = answer == LUAWEB_ANSWER_NO ? step->no : step->yes;
}

/* A question about fields that the request does not have. */
static void pass(struct lw_walk *walk, const struct lw_step *step)
{
    if (walk->trace)
        note(walk, step->absent == step->yes);
    walk->at = step->absent;
}

/* The function for a step that Lua answers. */
static uint32_t function_of(const struct lw_walk *walk, const struct lw_step *step)
{
    if (step->by == LW_BY_APP)
        return is_at_reply(walk) && !asks_app(walk)
                   ? 0
                   : walk->machine->said[step->row].function;
    return step->by == LW_BY_OPERATION ? walk->method->operation : 0;
}

/* What speaks at a status, where it is a function that was not asked yet. */
static uint32_t speaker(struct lw_walk *walk)
{
    if (walk->facts & LW_FACT_HANDLED)
        return 0;
    walk->facts |= LW_FACT_HANDLED;
    if (walk->facts & LW_FACT_KEPT && lw_walk_is_regular(walk))
        return LUAWEB_FUNCTION_KEPT; /* it speaks of what was done, of nothing else */
    const struct lw_handler *handler = lw_machine_handler(walk->machine, walk->status);
    return handler ? handler->function : 0;
}

/* At the end: first the properties that the response must have, then who speaks. */
static uint32_t arrive(struct lw_walk *walk)
{
    if (walk->status == 0) {
        const struct lw_terminal *end = &walk->plan->terminals[walk->at & ~LW_TERMINAL];
        walk->row = end->row;
        walk->status = end->status;
    }
    note_end(walk);
    walk->asked = 0;
    if (!lw_walk_know(walk, lw_fields_needs(walk)))
        return walk->function;
    walk->function = speaker(walk);
    return walk->function;
}

uint32_t lw_walk_run(struct lw_walk *walk)
{
    if (walk->is_gate) {
        walk->function = walk->machine->gate;
        return walk->function;
    }
    while (!(walk->at & LW_TERMINAL)) {
        const struct lw_step *step = &walk->plan->steps[walk->at];
        const struct lw_row *row = &walk->machine->graph->rows[step->row];
        walk->row = step->row;
        if (step->fields && !(walk->present & step->fields)) {
            pass(walk, step);
            continue;
        }
        walk->asked = 0;
        if (row->given.flags & (LUAWEB_ROW_READS | LUAWEB_ROW_ACTS))
            walk->facts |= LW_FACT_READS;
        walk->function = function_of(walk, step);
        if (walk->function)
            return walk->function;
        int answer = LUAWEB_ANSWER_NO; /* of an operation that nobody has */
        if (row->core)
            answer = row->core->answer(walk);
        if (answer == LW_ASK)
            return walk->function;
        lw_walk_answer(walk, answer);
    }
    return arrive(walk);
}

bool lw_walk_is_plain(const struct lw_walk *walk)
{
    const uint32_t reads = LUAWEB_METHOD_GET | LUAWEB_METHOD_HEAD;
    if (!walk->machine->is_plain || walk->trace || walk->at & LW_TERMINAL
        || !(walk->method->bit & reads))
        return false;
    const struct lw_plan *plan = walk->plan;
    uint16_t end = plan->steps[walk->at].yes;
    return end & LW_TERMINAL && plan->terminals[end & ~LW_TERMINAL].status == 200;
}

uint32_t lw_walk_reply(struct lw_walk *walk, int status, uint64_t size,
                       bool is_size_known)
{
    if (!(walk->facts & LW_FACT_REPLYING)) {
        walk->facts |= LW_FACT_REPLYING | LW_FACT_HANDLED;
        if (!(walk->at & LW_TERMINAL)) /* else it is no representation */
            walk->size = is_size_known ? size : UINT64_MAX;
        if (status && !is_reply(walk, status)) {
            if (!(walk->at & LW_TERMINAL)) {
                note(walk, status);
                walk->size = UINT64_MAX; /* nor is this one */
            }
            walk->status = (uint16_t)status;
            walk->at = LW_TERMINAL;
        } else if (!(walk->at & LW_TERMINAL)) {
            lw_walk_answer(walk, LUAWEB_ANSWER_YES);
        }
    }
    return lw_walk_run(walk);
}

static const struct lw_given *find_given(const struct lw_walk *walk, uint32_t property)
{
    const struct lw_given *given = walk->given;
    while (given && given->property != property)
        given = given->next;
    return given;
}

/* The literal value, or what Lua gave.  false: it must be asked. */
static bool find_value(struct lw_walk *walk, enum luaweb_property property,
                       struct lw_value *value, struct lw_list *list)
{
    const struct lw_machine *machine = walk->machine;
    *list = machine->lists[property];
    *value = machine->values[property];
    if (value->function == 0)
        return true;
    const struct lw_given *given = find_given(walk, property);
    if (given) {
        *list = given->list;
        *value = given->value;
        return true;
    }
    walk->asked = (uint8_t)(property + 1);
    walk->function = value->function;
    return false;
}

bool lw_walk_value(struct lw_walk *walk, enum luaweb_property property,
                   struct lw_value *value)
{
    struct lw_list list;
    return find_value(walk, property, value, &list);
}

bool lw_walk_list(struct lw_walk *walk, enum luaweb_property property,
                  struct lw_list *list)
{
    struct lw_value value;
    return find_value(walk, property, &value, list);
}

bool lw_walk_know(struct lw_walk *walk, uint32_t properties)
{
    struct lw_value value;
    for (uint32_t left = properties & walk->machine->asks; left; left &= left - 1)
        if (!lw_walk_value(walk, (enum luaweb_property)__builtin_ctz(left), &value))
            return false;
    return true;
}

void lw_walk_give(struct lw_walk *walk, struct luaweb_slice text, double number)
{
    lw_require(walk->asked > 0);
    struct lw_given *given = lw_arena_alloc(walk->arena, sizeof *given);
    *given = (struct lw_given){.property = walk->asked - 1U, .next = walk->given};
    walk->asked = 0;
    walk->given = given;
    given->value.number = number;
    if (!text.data)
        return;
    char *copy = lw_arena_alloc(walk->arena, text.size + 1);
    if (text.size)
        memcpy(copy, text.data, text.size);
    given->value.text = lw_slice(copy, text.size);
    uint32_t count = 1;
    for (size_t i = 0; i < text.size; i++)
        count += copy[i] == '\n';
    struct luaweb_slice *items = lw_arena_alloc(walk->arena, count * sizeof *items);
    given->list.items = items;
    given->list.count = lw_slice_split(given->value.text, items, count);
}
