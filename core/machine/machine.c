/* SPDX-License-Identifier: MIT
 *
 * Reads a machine's method table and answers from it. */
#include "machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"

static bool is(struct luaweb_slice name, const char *text)
{
    return lw_slice_equal(name, lw_slice(text, strlen(text)));
}

static const char *add_method(struct lw_machine *m, struct luaweb_slice name,
                              uint32_t function)
{
    if (is(name, "TRACE") || is(name, "CONNECT"))
        return "TRACE and CONNECT are never served";
    if (is(name, "*")) {
        m->takes_any = true;
        m->any_function = function;
        return NULL;
    }
    if (name.size > LW_METHOD_SIZE)
        return "a method has more than 64 octets";
    if (m->method_count == LW_MACHINE_METHODS)
        return "more than 32 methods";
    m->methods[m->method_count++] = (struct lw_method){name, function};
    return NULL;
}

/* Reads one line; the text is ours and ends in a NUL. */
static const char *read_line(struct lw_machine *m, const char *line, size_t size)
{
    const char *space = memchr(line, ' ', size);
    if (!space || space == line)
        return "a line of the method table is not METHOD index";
    char *end;
    unsigned long function = strtoul(space + 1, &end, 10);
    if (end == space + 1 || end != line + size || function > UINT32_MAX)
        return "a line of the method table is not METHOD index";
    return add_method(m, lw_slice(line, (size_t)(space - line)), (uint32_t)function);
}

static const struct lw_method *find_listed(const struct lw_machine *m,
                                           struct luaweb_slice name)
{
    for (uint32_t i = 0; i < m->method_count; i++)
        if (lw_slice_equal(m->methods[i].name, name))
            return &m->methods[i];
    return NULL;
}

static void append_allow(struct lw_machine *m, struct luaweb_slice name)
{
    size_t at = strlen(m->allow);
    snprintf(m->allow + at, sizeof m->allow - at, "%s%.*s", at ? ", " : "",
             (int)name.size, name.data);
}

/* The methods that a "*" machine names in Allow: the list has no word for "any". */
static const char *const usual_methods[] = {"GET", "HEAD",  "POST",
                                            "PUT", "PATCH", "DELETE"};

static void write_allow(struct lw_machine *m)
{
    m->allow[0] = 0;
    for (uint32_t i = 0; i < m->method_count; i++)
        if (!is(m->methods[i].name, "OPTIONS"))
            append_allow(m, m->methods[i].name);
    for (size_t i = 0; m->takes_any && i < sizeof usual_methods / sizeof *usual_methods;
         i++) {
        struct luaweb_slice name = lw_slice(usual_methods[i], strlen(usual_methods[i]));
        if (!find_listed(m, name))
            append_allow(m, name);
    }
    append_allow(m, LW_SLICE("OPTIONS"));
}

bool lw_machine_construct(struct lw_machine *machine, struct luaweb_slice lines,
                          uint64_t body_limit, const char **why)
{
    memset(machine, 0, sizeof *machine);
    machine->body_limit = body_limit;
    machine->text = lw_alloc(lines.size + 1);
    if (lines.size)
        memcpy(machine->text, lines.data, lines.size);
    machine->text[lines.size] = 0;
    *why = NULL;
    for (char *line = machine->text; *line && !*why;) {
        size_t size = strcspn(line, "\n");
        *why = read_line(machine, line, size);
        line += size + (line[size] == '\n');
    }
    if (*why) {
        lw_machine_destruct(machine);
        return false;
    }
    write_allow(machine);
    return true;
}

void lw_machine_destruct(struct lw_machine *machine)
{
    free(machine->text);
    machine->text = NULL;
}

bool lw_machine_find(const struct lw_machine *machine, struct luaweb_slice method,
                     uint32_t *function)
{
    const struct lw_method *listed = find_listed(machine, method);
    if (listed) {
        *function = listed->function;
        return true;
    }
    if (!machine->takes_any || is(method, "TRACE") || is(method, "CONNECT")
        || is(method, "OPTIONS"))
        return false;
    *function = machine->any_function;
    return true;
}
