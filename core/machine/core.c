/* SPDX-License-Identifier: MIT
 *
 * The table of the rows that C answers, and what settles them while an app loads. */
#include "machine/core.h"

#include <string.h>

#include "machine/answers.h"

static int always(const struct lw_machine *machine, const struct lw_method *method)
{
    (void)machine;
    (void)method;
    return LUAWEB_ANSWER_YES;
}

static int yes_without(const struct lw_machine *machine, enum luaweb_property property)
{
    return lw_machine_has(machine, property) ? LW_UNSETTLED : LUAWEB_ANSWER_YES;
}

static int authority_served(const struct lw_machine *machine,
                            const struct lw_method *method)
{
    (void)method;
    return yes_without(machine, LUAWEB_HOSTS);
}

static int method_implemented(const struct lw_machine *machine,
                              const struct lw_method *method)
{
    (void)machine;
    return method->class != LW_METHOD_UNKNOWN;
}

static int method_allowed(const struct lw_machine *machine,
                          const struct lw_method *method)
{
    (void)machine;
    return method->class == LW_METHOD_ALLOWED;
}

/* A PUT may make what is not there, other methods may not (RFC 9110 §9.3.4). */
static int may_create(const struct lw_machine *machine, const struct lw_method *method)
{
    (void)machine;
    return method->bit == LUAWEB_METHOD_PUT;
}

static int length_known(const struct lw_machine *machine,
                        const struct lw_method *method)
{
    (void)method;
    return yes_without(machine, LUAWEB_LENGTH_REQUIRED);
}

static int media_type_taken(const struct lw_machine *machine,
                            const struct lw_method *method)
{
    (void)method;
    return yes_without(machine, LUAWEB_ACCEPTABLE_MEDIA_TYPES);
}

static int media_type_offered(const struct lw_machine *machine,
                              const struct lw_method *method)
{
    (void)method;
    return yes_without(machine, LUAWEB_AVAILABLE_MEDIA_TYPES);
}

static int language_offered(const struct lw_machine *machine,
                            const struct lw_method *method)
{
    (void)method;
    return yes_without(machine, LUAWEB_AVAILABLE_LANGUAGES);
}

static int charset_offered(const struct lw_machine *machine,
                           const struct lw_method *method)
{
    (void)method;
    return yes_without(machine, LUAWEB_AVAILABLE_CHARSETS);
}

static int coding_offered(const struct lw_machine *machine,
                          const struct lw_method *method)
{
    (void)method;
    return yes_without(machine, LUAWEB_AVAILABLE_CONTENT_CODINGS);
}

/* Both dates: without one of our own there is nothing to compare with. */
static int dates_hold(const struct lw_machine *machine, const struct lw_method *method)
{
    (void)method;
    return yes_without(machine, LUAWEB_LAST_MODIFIED);
}

/* A fact of PUT and PATCH; elsewhere the app says so. */
static int created(const struct lw_machine *machine, const struct lw_method *method)
{
    (void)machine;
    return lw_core_is_fact(lw_core_find("created"), method) ? LW_UNSETTLED
                                                            : LUAWEB_ANSWER_NO;
}

/* Whether a representation can be made, and by whom. */
static int has_reply(const struct lw_machine *machine, const struct lw_method *method)
{
    bool is_read = method->bit & (LUAWEB_METHOD_GET | LUAWEB_METHOD_HEAD);
    if (!is_read && method->bit != LUAWEB_METHOD_OPTIONS)
        return LW_UNSETTLED;
    if (method->reply || (is_read && machine->offers[0]))
        return LW_UNSETTLED;
    return is_read && lw_machine_handler(machine, 200) != NULL;
}

static int range_wanted(const struct lw_machine *machine,
                        const struct lw_method *method)
{
    (void)method;
    const struct lw_value *value = &machine->values[LUAWEB_ACCEPT_RANGES];
    bool is_off = !value->function && value->number == 0;
    return is_off ? LUAWEB_ANSWER_NO : LW_UNSETTLED;
}

static int origin_allowed(const struct lw_machine *machine,
                          const struct lw_method *method)
{
    (void)method;
    if (machine->is_open)
        return LUAWEB_ANSWER_YES;
    return lw_machine_has(machine, LUAWEB_CORS_ORIGINS) ? LW_UNSETTLED
                                                        : LUAWEB_ANSWER_NO;
}

/* clang-format off */
static const struct lw_core rows[] = {
    /* name                        settled by            answered by */
    {"authority_served",          authority_served,     lw_answer_authority_served},
    {"origin_given",              NULL,                 lw_answer_origin_given},
    {"origin_allowed",            origin_allowed,       lw_answer_origin_allowed},
    {"not_preflight",             NULL,                 lw_answer_not_preflight},
    {"http_version_supported",    always,               NULL},
    {"method_implemented",        method_implemented,   NULL},
    {"uri_fits",                  always,               NULL},
    {"method_allowed",            method_allowed,       NULL},
    {"may_create",                may_create,           NULL},
    {"may_recreate",              may_create,           NULL},
    {"has_content",               NULL,                 lw_answer_has_content},
    {"expectation_met",           NULL,                 lw_answer_expectation_met},
    {"length_known",              length_known,         lw_answer_length_known},
    {"content_fits",              NULL,                 lw_answer_content_fits},
    {"content_whole",             NULL,                 lw_answer_content_whole},
    {"content_coding_known",      NULL,                 lw_answer_content_coding_known},
    {"media_type_taken",          media_type_taken,     lw_answer_media_type_taken},
    {"patch_given",               NULL,                 lw_answer_has_content},
    {"patch_type_taken",          NULL,                 lw_answer_patch_type_taken},
    {"media_type_offered",        media_type_offered,   lw_answer_media_type_offered},
    {"language_offered",          language_offered,     lw_answer_language_offered},
    {"charset_offered",           charset_offered,      lw_answer_charset_offered},
    {"coding_offered",            coding_offered,       lw_answer_coding_offered},
    {"precondition_given",        NULL,                 lw_answer_precondition_given},
    {"if_match_holds",            NULL,                 lw_answer_if_match_holds},
    {"if_unmodified_since_holds", dates_hold,           lw_answer_if_unmodified_since_holds},
    {"if_none_match_holds",       NULL,                 lw_answer_if_none_match_holds},
    {"if_modified_since_holds",   dates_hold,           lw_answer_if_modified_since_holds},
    {"content_well_formed",       always,               NULL},
    {"created",                   created,              lw_answer_created},
    {"has_reply",                 has_reply,            lw_answer_has_reply},
    {"range_wanted",              range_wanted,         lw_answer_range_wanted},
    {"if_range_holds",            NULL,                 lw_answer_if_range_holds},
    {"range_fits",                NULL,                 lw_answer_range_fits},
};
/* clang-format on */

const struct lw_core *lw_core_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool lw_core_is_fact(const struct lw_core *core, const struct lw_method *method)
{
    return core->answer == lw_answer_created
           && method->bit & (LUAWEB_METHOD_PUT | LUAWEB_METHOD_PATCH);
}

bool lw_core_is_lenient(const struct lw_core *core, const struct lw_machine *machine)
{
    static const struct {
        int (*answer)(struct lw_walk *walk);
        const char *name;
    } dimensions[] = {
        {lw_answer_media_type_offered, "media_type"    },
        {lw_answer_language_offered,   "language"      },
        {lw_answer_charset_offered,    "charset"       },
        {lw_answer_coding_offered,     "content_coding"},
    };
    if (!core->answer || machine->values[LUAWEB_STRICT].function)
        return false;
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
        if (core->answer == dimensions[i].answer)
            return !lw_machine_is_strict(machine, dimensions[i].name);
    return false;
}
