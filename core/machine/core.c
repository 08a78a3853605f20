/* SPDX-License-Identifier: MIT
 *
 * The table of the rows that C answers, and what settles them while an app loads. */
#include "machine/core.h"

#include <string.h>

#include "http/fields.h"
#include "machine/answers.h"

#define CONDITIONS                                                     \
    (LW_HAS_IF_MATCH | LW_HAS_IF_NONE_MATCH | LW_HAS_IF_MODIFIED_SINCE \
     | LW_HAS_IF_UNMODIFIED_SINCE)

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
    /* name settled by answered by fields without them */
    {"authority_served",           authority_served,    lw_answer_authority_served,          0,                          false},
    {"origin_given",               NULL,                lw_answer_origin_given,              LW_HAS_ORIGIN,              false},
    {"origin_allowed",             origin_allowed,      lw_answer_origin_allowed,            0,                          false},
    {"not_preflight",              NULL,                lw_answer_not_preflight,             LW_HAS_REQUEST_METHOD,      true},
    {"http_version_supported",     always,              NULL,                                0,                          false},
    {"method_implemented",         method_implemented,  NULL,                                0,                          false},
    {"uri_fits",                   always,              NULL,                                0,                          false},
    {"method_allowed",             method_allowed,      NULL,                                0,                          false},
    {"may_create",                 may_create,          NULL,                                0,                          false},
    {"may_recreate",               may_create,          NULL,                                0,                          false},
    {"has_content",                NULL,                lw_answer_has_content,               0,                          false},
    {"expectation_met",            NULL,                lw_answer_expectation_met,           LW_HAS_EXPECT,              true},
    {"length_known",               length_known,        lw_answer_length_known,              0,                          false},
    {"content_fits",               NULL,                lw_answer_content_fits,              0,                          false},
    {"content_whole",              NULL,                lw_answer_content_whole,             LW_HAS_CONTENT_RANGE,       true},
    {"content_coding_known",       NULL,                lw_answer_content_coding_known,      LW_HAS_CONTENT_ENCODING,    true},
    {"media_type_taken",           media_type_taken,    lw_answer_media_type_taken,          LW_HAS_CONTENT_TYPE,        true},
    {"patch_given",                NULL,                lw_answer_has_content,               0,                          false},
    {"patch_type_taken",           NULL,                lw_answer_patch_type_taken,          LW_HAS_CONTENT_TYPE,        false},
    {"media_type_offered",         media_type_offered,  lw_answer_media_type_offered,        LW_HAS_ACCEPT,              true},
    {"language_offered",           language_offered,    lw_answer_language_offered,          LW_HAS_ACCEPT_LANGUAGE,     true},
    {"charset_offered",            charset_offered,     lw_answer_charset_offered,           LW_HAS_ACCEPT_CHARSET,      true},
    {"coding_offered",             coding_offered,      lw_answer_coding_offered,            LW_HAS_ACCEPT_ENCODING,     true},
    {"precondition_given",         NULL,                lw_answer_precondition_given,        CONDITIONS,                 false},
    {"if_match_holds",             NULL,                lw_answer_if_match_holds,            LW_HAS_IF_MATCH,            true},
    {"if_unmodified_since_holds",  dates_hold,          lw_answer_if_unmodified_since_holds, LW_HAS_IF_UNMODIFIED_SINCE, true},
    {"if_none_match_holds",        NULL,                lw_answer_if_none_match_holds,       LW_HAS_IF_NONE_MATCH,       true},
    {"if_modified_since_holds",    dates_hold,          lw_answer_if_modified_since_holds,   LW_HAS_IF_MODIFIED_SINCE,   true},
    {"content_well_formed",        always,              NULL,                                0,                          false},
    {"created",                    created,             lw_answer_created,                   0,                          false},
    {"has_reply",                  has_reply,           lw_answer_has_reply,                 0,                          false},
    {"range_wanted",               range_wanted,        lw_answer_range_wanted,              LW_HAS_RANGE,               false},
    {"if_range_holds",             NULL,                lw_answer_if_range_holds,            LW_HAS_IF_RANGE,            true},
    {"range_fits",                 NULL,                lw_answer_range_fits,                0,                          false},
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
