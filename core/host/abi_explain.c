/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions by which Lua looks at programs and walks
 * (base/abi_explain.h): for the rules, see abi.c.  A program is compiled once more,
 * since the one that serves does not say how it came about. */
#include "base/abi_explain.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/slice.h"
#include "host/look.h"
#include "host/vm.h"
#include "machine/app.h"
#include "machine/plan.h"

#define EXPORT __attribute__((visibility("default")))

/* One word has the same number on both sides. */
#define IS_SAME(a, b) ((int)(a) == (int)(b))
static_assert(LUAWEB_PROGRAM_ROWS == LW_GRAPH_ROWS
                  && LUAWEB_PROGRAM_TERMINALS == 2 * LW_GRAPH_ROWS + 1,
              "there is room for every program");
static_assert(IS_SAME(LUAWEB_FATE_FIXED, LW_FATE_FIXED)
                  && IS_SAME(LUAWEB_FATE_LITERAL, LW_FATE_LITERAL)
                  && IS_SAME(LUAWEB_FATE_UNARY, LW_FATE_UNARY)
                  && IS_SAME(LUAWEB_FATE_UNREACHABLE, LW_FATE_UNREACHABLE)
                  && IS_SAME(LUAWEB_FATE_ASKED, LW_FATE_ASKED),
              "fates");
static_assert(IS_SAME(LUAWEB_BY_CORE, LW_BY_CORE) && IS_SAME(LUAWEB_BY_APP, LW_BY_APP)
                  && IS_SAME(LUAWEB_BY_OPERATION, LW_BY_OPERATION),
              "who answers");

/* NULL: there is none of that number. */
static const struct lw_machine *machine_of(const struct luaweb_app *app, int resource)
{
    if (resource == -1)
        return app->unmatched;
    bool is_there = resource >= 0 && (uint32_t)resource < app->resource_count;
    return is_there ? app->resources[resource].machine : NULL;
}

static int32_t arrow(uint16_t at)
{
    return at & LW_TERMINAL ? -1 - (at & ~LW_TERMINAL) : at;
}

static void write_steps(const struct lw_plan *plan, struct luaweb_program *program)
{
    program->start = arrow(plan->start);
    program->step_count = plan->step_count;
    program->terminal_count = plan->terminal_count;
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct lw_step *step = &plan->steps[i];
        program->steps[i] = (struct luaweb_step){step->row, step->by, arrow(step->yes),
                                                 arrow(step->no)};
    }
    for (uint32_t i = 0; i < plan->terminal_count; i++)
        program->terminals[i] =
            (struct luaweb_terminal){plan->terminals[i].row, plan->terminals[i].status};
}

static uint32_t number_of(const struct luaweb_app *app, const struct lw_plan *plan)
{
    uint32_t number = 0;
    while (number < app->program_count && app->programs[number] != plan)
        number++;
    return number;
}

EXPORT bool luaweb_explain_program(struct luaweb_host *host, struct luaweb_app *app,
                                   int resource, const char *method,
                                   struct luaweb_program *program)
{
    (void)host;
    struct lw_report report;
    const struct lw_machine *machine = machine_of(app, resource);
    if (!machine)
        return false;
    const struct lw_method *found =
        lw_app_method(app, machine, lw_slice(method, strlen(method)));
    struct lw_plan *plan = lw_plan_compile(machine, found, &report);
    program->number = number_of(app, found->program);
    program->row_count = machine->graph->count;
    for (uint32_t i = 0; i < machine->graph->count; i++)
        program->rows[i] = (struct luaweb_fated){machine->graph->rows[i].given.name,
                                                 report.fates[i], report.answers[i]};
    write_steps(plan, program);
    free(plan);
    return true;
}

EXPORT void luaweb_explain_trace(struct luaweb_host *host, bool on)
{
    host->trace.walk = NULL;
    host->trace.count = 0;
    host->loop->trace = on ? &host->trace : NULL;
}

EXPORT uint32_t luaweb_explain_read(struct luaweb_host *host,
                                    struct luaweb_traced *answers, uint32_t capacity,
                                    struct luaweb_ending *ending)
{
    const struct lw_trace *trace = &host->trace;
    *ending = (struct luaweb_ending){.resource = -1};
    if (!trace->walk)
        return 0;
    return lw_look_read(host, trace, answers, capacity, ending);
}
