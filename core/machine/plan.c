/* SPDX-License-Identifier: MIT
 *
 * Compiling a graph for one method of one machine. */
#include "machine/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "machine/core.h"
#include "machine/machine.h"

/* Where an arrow leads, while rows still have their own numbers: to a row, or (< 0) to
 * a terminal. */
typedef int32_t place;

struct work {
    const struct lw_machine *machine;
    const struct lw_method *method;
    uint32_t count;
    place yes[LW_GRAPH_ROWS];
    place no[LW_GRAPH_ROWS];
    place leads[LW_GRAPH_ROWS]; /* where one comes who is sent to the row */
    int answers[LW_GRAPH_ROWS];
    uint8_t fates[LW_GRAPH_ROWS];
    uint16_t steps[LW_GRAPH_ROWS]; /* the row's number in the program */
    bool is_reached[LW_GRAPH_ROWS];
};

static place terminal(uint32_t row, int status)
{
    return -(place)(row * 1000 + (uint32_t)status);
}

/* What the app says to a row. */
static int said_of(const struct work *work, const struct lw_row *row, uint32_t index)
{
    if (row->core && lw_core_is_fact(row->core, work->method))
        return LUAWEB_ANSWER_UNSET;
    return work->machine->said[index].answer;
}

/* Whether an answer, although it is known, counts only for those who come to the row:
 * an origin is let in where there is one. */
static bool is_for_some(const struct work *work, uint32_t index, int answer)
{
    return index == work->machine->graph->origin_allowed && !work->machine->is_open
           && answer == LUAWEB_ANSWER_YES;
}

/* The answer of a row, as far as it is known: enum luaweb_answer or a status. */
static int known_answer(const struct work *work, const struct lw_row *row,
                        uint32_t index, enum lw_fate *fate)
{
    int said = said_of(work, row, index);
    uint32_t bit = work->method->bit;
    bool has_say = work->machine->is_unmatched && said != LUAWEB_ANSWER_UNSET;
    *fate = LW_FATE_FIXED;
    if (!has_say && (row->given.yes_for | row->given.no_for) & bit)
        return row->given.yes_for & bit ? LUAWEB_ANSWER_YES : LUAWEB_ANSWER_NO;
    bool is_asked = said == LUAWEB_ANSWER_ASK || is_for_some(work, index, said);
    *fate = is_asked ? LW_FATE_ASKED : LW_FATE_LITERAL;
    if (is_asked)
        return LUAWEB_ANSWER_ASK;
    if (said != LUAWEB_ANSWER_UNSET)
        return said;
    int settled = LW_UNSETTLED;
    if (!row->core && !(row->given.flags & LUAWEB_ROW_ACTS))
        settled = row->given.default_answer == LUAWEB_ANSWER_YES;
    else if (row->core && row->core->settle)
        settled = row->core->settle(work->machine, work->method);
    if (settled == LUAWEB_ANSWER_NO || settled == LUAWEB_ANSWER_YES)
        return settled;
    *fate = LW_FATE_ASKED;
    return LUAWEB_ANSWER_ASK;
}

static place follow(const struct work *work, uint32_t row, int32_t arrow)
{
    return arrow < 0 ? terminal(row, -arrow) : work->leads[arrow];
}

/* Whether a row is asked although yes and no lead to the same place: its answer is used
 * later, it does the app's work, or the app may end the walk there. */
static bool stays(const struct work *work, const struct lw_row *row, uint32_t index)
{
    uint32_t stay = LUAWEB_ROW_KEEP | LUAWEB_ROW_ACTS;
    return row->given.flags & stay || said_of(work, row, index) == LUAWEB_ANSWER_ASK;
}

/* Looks at one row, when all below it are done. */
static void settle_row(struct work *work, uint32_t i)
{
    const struct lw_row *row = &work->machine->graph->rows[i];
    enum lw_fate fate;
    int answer = known_answer(work, row, i, &fate);
    work->yes[i] = follow(work, i, row->given.yes);
    work->no[i] = follow(work, i, row->given.no);
    if (row->core && lw_core_is_lenient(row->core, work->machine))
        work->no[i] = work->yes[i];
    work->leads[i] = (place)i;
    if (answer == LUAWEB_ANSWER_YES)
        work->leads[i] = work->yes[i];
    else if (answer == LUAWEB_ANSWER_NO)
        work->leads[i] = work->no[i];
    else if (answer != LUAWEB_ANSWER_ASK)
        work->leads[i] = terminal(i, answer);
    if (fate == LW_FATE_ASKED && work->yes[i] == work->no[i] && !stays(work, row, i)) {
        fate = LW_FATE_UNARY;
        work->leads[i] = work->yes[i];
    }
    work->fates[i] = (uint8_t)fate;
    work->answers[i] = answer;
}

static void reach(struct work *work, place at)
{
    if (at >= 0)
        work->is_reached[at] = true;
}

/* Marks what a walk can come to; arrows point down, so that one pass does. */
static uint32_t number_steps(struct work *work)
{
    uint32_t count = 0;
    memset(work->is_reached, 0, sizeof work->is_reached);
    reach(work, work->leads[0]);
    for (uint32_t i = 0; i < work->count; i++) {
        if (work->fates[i] != LW_FATE_ASKED)
            continue;
        if (!work->is_reached[i]) {
            work->fates[i] = LW_FATE_UNREACHABLE;
            continue;
        }
        work->steps[i] = (uint16_t)count++;
        reach(work, work->yes[i]);
        reach(work, work->no[i]);
    }
    return count;
}

/* Whether a row has this answer without being asked. */
static bool is_literal(const struct work *work, uint32_t row, int answer)
{
    return row < work->count && work->fates[row] == LW_FATE_LITERAL
           && work->answers[row] == answer;
}

/* What literal answers tell the rows that use them later. */
static uint16_t literal_facts(const struct work *work)
{
    const struct lw_graph *graph = work->machine->graph;
    uint32_t facts = 0;
    if (is_literal(work, graph->exists, LUAWEB_ANSWER_YES))
        facts |= LW_FACT_EXISTS;
    if (is_literal(work, graph->exists, LUAWEB_ANSWER_NO))
        facts |= LW_FACT_MISSING;
    if (is_literal(work, graph->origin_allowed, LUAWEB_ANSWER_YES))
        facts |= LW_FACT_ORIGIN_ALLOWED;
    return (uint16_t)facts;
}

static uint16_t arrow_to(const struct work *work, struct lw_terminal *terminals,
                         uint16_t *count, place at)
{
    if (at >= 0)
        return work->steps[at];
    struct lw_terminal wanted = {(uint16_t)(-at / 1000), (uint16_t)(-at % 1000)};
    uint16_t i = 0;
    while (i < *count
           && (terminals[i].row != wanted.row || terminals[i].status != wanted.status))
        i++;
    if (i == *count)
        terminals[(*count)++] = wanted;
    return (uint16_t)(i | LW_TERMINAL);
}

static enum lw_by who_answers(const struct work *work, uint32_t i)
{
    const struct lw_row *row = &work->machine->graph->rows[i];
    if (said_of(work, row, i) == LUAWEB_ANSWER_ASK)
        return LW_BY_APP;
    return row->core ? LW_BY_CORE : LW_BY_OPERATION;
}

static struct lw_plan *flatten(const struct work *work, uint32_t step_count)
{
    uint32_t most = 2 * step_count + 1; /* terminals */
    size_t steps_size = step_count * sizeof(struct lw_step);
    struct lw_plan *plan =
        lw_alloc(sizeof *plan + most * sizeof(struct lw_terminal) + steps_size);
    struct lw_terminal *terminals = (struct lw_terminal *)(plan + 1);
    struct lw_step *step = (struct lw_step *)(terminals + most);
    memset(step, 0, steps_size); /* lw_plan_equal compares the padding too */
    *plan = (struct lw_plan){
        .step_count = (uint16_t)step_count,
        .facts = literal_facts(work),
        .steps = step,
        .terminals = terminals,
    };
    plan->start = arrow_to(work, terminals, &plan->terminal_count, work->leads[0]);
    for (uint32_t i = 0; i < work->count; i++) {
        if (work->fates[i] != LW_FATE_ASKED)
            continue;
        step->row = (uint16_t)i;
        step->by = (uint16_t)who_answers(work, i);
        step->yes = arrow_to(work, terminals, &plan->terminal_count, work->yes[i]);
        step->no = arrow_to(work, terminals, &plan->terminal_count, work->no[i]);
        const struct lw_core *core = work->machine->graph->rows[i].core;
        step->fields = step->by == LW_BY_CORE ? core->fields : 0;
        step->absent = step->fields && core->absent ? step->yes : step->no;
        step++;
    }
    return plan;
}

struct lw_plan *lw_plan_compile(const struct lw_machine *machine,
                                const struct lw_method *method,
                                struct lw_report *report)
{
    struct work work = {.machine = machine, .method = method};
    work.count = machine->graph->count;
    for (uint32_t i = work.count; i-- > 0;)
        settle_row(&work, i);
    uint32_t count = number_steps(&work);
    if (report)
        for (uint32_t i = 0; i < work.count; i++) {
            report->fates[i] = work.fates[i];
            report->answers[i] = (int16_t)work.answers[i];
        }
    return flatten(&work, count);
}

bool lw_plan_equal(const struct lw_plan *a, const struct lw_plan *b)
{
    return a->step_count == b->step_count && a->terminal_count == b->terminal_count
           && a->start == b->start && a->facts == b->facts
           && memcmp(a->steps, b->steps, a->step_count * sizeof *a->steps) == 0
           && memcmp(a->terminals, b->terminals,
                     a->terminal_count * sizeof *a->terminals)
                  == 0;
}
