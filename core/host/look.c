/* SPDX-License-Identifier: MIT
 *
 * From machines and numbers of rows to what Lua knows them by. */
#include "host/look.h"

#include "host/vm.h"
#include "machine/app.h"
#include "net/dev.h"

/* The number of the resource with this machine, or -1. */
static int32_t resource_of(const struct luaweb_host *host,
                           const struct lw_machine *machine)
{
    for (uint32_t i = 0; i < host->app_count; i++) {
        const struct luaweb_app *app = &host->apps[i]->app;
        for (uint32_t j = 0; j < app->resource_count; j++)
            if (app->resources[j].machine == machine)
                return (int32_t)j;
    }
    return -1;
}

bool lw_look_is_own(const struct luaweb_host *host, const struct lw_trace *trace)
{
    if (!trace->walk)
        return false;
    for (uint32_t i = 0; i < host->app_count; i++)
        if (host->apps[i]->app.unmatched == trace->machine)
            return true;
    return resource_of(host, trace->machine) >= 0;
}

void lw_look_forget(struct luaweb_host *host)
{
    struct lw_dev *dev = host->loop->dev;
    for (uint32_t i = 0; dev && i < LW_DEV_SEEN; i++)
        if (lw_look_is_own(host, &dev->seen[i].trace))
            dev->seen[i].trace.walk = NULL;
}

uint32_t lw_look_read(const struct luaweb_host *host, const struct lw_trace *trace,
                      struct luaweb_traced *answers, uint32_t capacity,
                      struct luaweb_ending *ending)
{
    ending->resource = resource_of(host, trace->machine);
    ending->row = trace->end.row;
    ending->status = trace->end.status;
    for (uint32_t i = 0; i < trace->count && i < capacity; i++) {
        const struct lw_trace_entry *entry = &trace->entries[i];
        answers[i].name = trace->machine->graph->rows[entry->row].given.name;
        answers[i].row = entry->row;
        answers[i].answer = entry->answer;
    }
    return trace->count;
}
