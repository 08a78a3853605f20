/* SPDX-License-Identifier: MIT
 *
 * Filling machines in, and what is asked of them. */
#include "machine/machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/require.h"
#include "base/slice.h"
#include "http/fields.h"

/* Ends in a NUL, so that an empty text has an address too. */
static struct luaweb_slice copy(struct luaweb_slice text)
{
    char *data = lw_alloc(text.size + 1);
    if (text.size)
        memcpy(data, text.data, text.size);
    data[text.size] = 0;
    return lw_slice(data, text.size);
}

static void drop(struct luaweb_slice text)
{
    free((char *)text.data);
}

void lw_machine_construct(struct lw_machine *machine, const struct lw_graph *graph)
{
    memset(machine, 0, sizeof *machine);
    machine->graph = graph;
    machine->said = lw_alloc(graph->count * sizeof *machine->said);
    for (uint32_t i = 0; i < graph->count; i++)
        machine->said[i] = (struct lw_said){LUAWEB_ANSWER_UNSET, 0};
    machine->refused.class = LW_METHOD_REFUSED;
    machine->unknown.class = LW_METHOD_UNKNOWN;
    machine->refused.bit = machine->unknown.bit = LUAWEB_METHOD_OTHER;
    machine->patience = (struct lw_patience){-1, LW_HALF_CLOSE_GRACE_MS, 0};
}

void lw_machine_destruct(struct lw_machine *machine)
{
    free(machine->said);
    for (uint32_t i = 0; i < machine->method_count; i++)
        drop(machine->methods[i].name);
    for (uint32_t i = 0; i < LUAWEB_PROPERTIES; i++) {
        drop(machine->values[i].text);
        free((void *)machine->lists[i].items);
    }
    for (uint32_t i = 0; i < machine->handler_count; i++) {
        drop(machine->handlers[i].type);
        drop(machine->handlers[i].text);
    }
    drop(machine->vary);
    memset(machine, 0, sizeof *machine);
}

static const struct lw_method *find_named(const struct lw_machine *machine,
                                          struct luaweb_slice name)
{
    for (uint32_t i = 0; i < machine->method_count; i++)
        if (lw_slice_equal(machine->methods[i].name, name))
            return &machine->methods[i];
    return NULL;
}

bool lw_machine_add_method(struct lw_machine *machine, struct luaweb_slice name,
                           uint32_t bit, uint32_t operation, uint32_t reply)
{
    if (machine->method_count == LW_MACHINE_METHODS || name.size > LW_METHOD_SIZE)
        return false;
    lw_require(!find_named(machine, name));
    machine->methods[machine->method_count++] = (struct lw_method){
        .name = copy(name), .bit = bit, .operation = operation, .reply = reply};
    return true;
}

static void split(struct lw_list *list, struct luaweb_slice text)
{
    uint32_t count = 1;
    for (size_t i = 0; i < text.size; i++)
        count += text.data[i] == '\n';
    struct luaweb_slice *items = lw_alloc(count * sizeof *items);
    list->items = items;
    list->count = lw_slice_split(text, items, count);
}

/* What no row asks for, and no response tells. */
static bool set_patience(struct lw_patience *patience, enum luaweb_property property,
                         double number)
{
    if (property == LUAWEB_TIMEOUT)
        patience->timeout_ms = (int64_t)number;
    else if (property == LUAWEB_HALF_CLOSE_GRACE)
        patience->grace_ms = (uint64_t)number;
    else if (property == LUAWEB_ON_DISCONNECT)
        patience->on_disconnect = (enum luaweb_on_disconnect)number;
    else
        return false;
    return true;
}

void lw_machine_set(struct lw_machine *machine, enum luaweb_property property,
                    struct luaweb_slice text, double number, uint32_t function)
{
    struct lw_value *value = &machine->values[property];
    if (set_patience(&machine->patience, property, number))
        return;
    lw_require(!lw_machine_has(machine, property));
    value->text = copy(text);
    value->number = number;
    value->function = function;
    split(&machine->lists[property], value->text);
    machine->has |= 1U << property;
    if (function)
        machine->asks |= 1U << property;
}

bool lw_machine_add_handler(struct lw_machine *machine, int status, uint32_t function,
                            struct luaweb_slice type, struct luaweb_slice text)
{
    if (machine->handler_count == LW_MACHINE_HANDLERS)
        return false;
    machine->handlers[machine->handler_count++] =
        (struct lw_handler){status, function, copy(type), copy(text)};
    return true;
}

const struct lw_handler *lw_machine_handler(const struct lw_machine *machine,
                                            int status)
{
    for (uint32_t i = 0; i < machine->handler_count; i++)
        if (machine->handlers[i].status == status)
            return &machine->handlers[i];
    return NULL;
}

const struct lw_method *lw_machine_find(const struct lw_machine *machine,
                                        struct luaweb_slice name)
{
    const struct lw_method *method = find_named(machine, name);
    if (method)
        return method;
    if (lw_slice_equal(name, LW_SLICE("TRACE"))
        || lw_slice_equal(name, LW_SLICE("CONNECT")))
        return NULL;
    return find_named(machine, LW_SLICE("*"));
}

bool lw_machine_has(const struct lw_machine *machine, enum luaweb_property property)
{
    return machine->has >> property & 1;
}

/* What the app says to a row; no: the graph does not have it. */
static int said_to(const struct lw_machine *machine, const char *name)
{
    uint32_t row = lw_graph_find(machine->graph, name);
    return row < machine->graph->count ? machine->said[row].answer : LUAWEB_ANSWER_NO;
}

static bool is_literal_yes(int said)
{
    return said == LUAWEB_ANSWER_YES || said == LUAWEB_ANSWER_UNSET;
}

/* Whether CORS lets every origin in, whatever the request says. */
static bool is_open(const struct lw_machine *machine)
{
    const struct lw_value *origins = &machine->values[LUAWEB_CORS_ORIGINS];
    const struct lw_value *credentials = &machine->values[LUAWEB_CORS_CREDENTIALS];
    return is_literal_yes(said_to(machine, "cors_enabled"))
           && is_literal_yes(said_to(machine, "origin_allowed"))
           && lw_machine_has(machine, LUAWEB_CORS_ORIGINS) && !origins->function
           && lw_slice_equal(origins->text, LW_SLICE("*")) && !credentials->function
           && credentials->number == 0;
}

/* Whether CORS lets some origin in, maybe. */
static bool has_cors(const struct lw_machine *machine)
{
    int allowed = said_to(machine, "origin_allowed");
    bool is_unset = allowed == LUAWEB_ANSWER_UNSET;
    return said_to(machine, "cors_enabled") != LUAWEB_ANSWER_NO
           && (is_unset ? lw_machine_has(machine, LUAWEB_CORS_ORIGINS)
                        : allowed != LUAWEB_ANSWER_NO);
}

bool lw_machine_is_strict(const struct lw_machine *machine, const char *dimension)
{
    struct luaweb_slice name = lw_slice(dimension, strlen(dimension));
    const struct lw_list *list = &machine->lists[LUAWEB_STRICT];
    if (!lw_machine_has(machine, LUAWEB_STRICT))
        return lw_slice_equal(name, LW_SLICE("media_type"));
    for (uint32_t i = 0; i < list->count; i++)
        if (lw_slice_equal(list->items[i], name))
            return true;
    return false;
}

/* Appends ", item"; the caller has seen to the room. */
static void append(char *text, size_t room, struct luaweb_slice item)
{
    size_t at = strlen(text);
    lw_require(at + item.size + 3 <= room);
    if (at > 0) {
        memcpy(text + at, ", ", 2);
        at += 2;
    }
    memcpy(text + at, item.data, item.size);
    text[at + item.size] = 0;
}

static const struct luaweb_slice usual_methods[] = {
    {"GET",    3},
    {"HEAD",   4},
    {"POST",   4},
    {"PUT",    3},
    {"PATCH",  5},
    {"DELETE", 6},
};

static void write_allow(struct lw_machine *machine)
{
    char *allow = machine->allow;
    struct luaweb_slice options = LW_SLICE("OPTIONS");
    struct luaweb_slice any = LW_SLICE("*");
    for (uint32_t i = 0; i < machine->method_count; i++) {
        struct luaweb_slice name = machine->methods[i].name;
        if (!lw_slice_equal(name, options) && !lw_slice_equal(name, any))
            append(allow, LW_ALLOW_SIZE, name);
    }
    if (find_named(machine, any))
        for (size_t i = 0; i < sizeof usual_methods / sizeof *usual_methods; i++)
            if (!find_named(machine, usual_methods[i]))
                append(allow, LW_ALLOW_SIZE, usual_methods[i]);
    append(allow, LW_ALLOW_SIZE, options);
}

/* Whether there is something to choose in a dimension.  What has no coding is an offer
 * of its own. */
static bool has_choice(const struct lw_machine *machine, enum luaweb_property offers)
{
    const struct lw_list *list = &machine->lists[offers];
    if (machine->values[offers].function)
        return true;
    if (list->count == 1 && offers == LUAWEB_AVAILABLE_CONTENT_CODINGS)
        return !lw_slice_equal_nocase(list->items[0], LW_SLICE("identity"));
    return list->count > 1;
}

static void write_vary(struct lw_machine *machine)
{
    static const struct {
        enum luaweb_property offers;
        struct luaweb_slice field;
    } dimensions[] = {
        {LUAWEB_AVAILABLE_MEDIA_TYPES,     {"Accept", 6}          },
        {LUAWEB_AVAILABLE_LANGUAGES,       {"Accept-Language", 15}},
        {LUAWEB_AVAILABLE_CHARSETS,        {"Accept-Charset", 14} },
        {LUAWEB_AVAILABLE_CONTENT_CODINGS, {"Accept-Encoding", 15}},
    };
    const struct lw_list *own = &machine->lists[LUAWEB_VARY];
    size_t room = 80; /* for those of all dimensions */
    for (uint32_t i = 0; i < own->count; i++)
        room += own->items[i].size + 2;
    char *text = lw_alloc(room);
    *text = 0;
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
        if (has_choice(machine, dimensions[i].offers))
            append(text, room, dimensions[i].field);
    for (uint32_t i = 0; i < own->count; i++)
        if (!lw_list_has(lw_slice(text, strlen(text)), own->items[i]))
            append(text, room, own->items[i]);
    machine->vary = lw_slice(text, strlen(text));
}

void lw_machine_finish(struct lw_machine *machine)
{
    machine->is_open = is_open(machine);
    machine->has_cors = has_cors(machine);
    machine->is_plain =
        machine->has == 0 && !machine->has_cors && machine->handler_count == 0;
    write_allow(machine);
    write_vary(machine);
}
