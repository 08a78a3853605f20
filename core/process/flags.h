/* SPDX-License-Identifier: MIT
 *
 * The tables of the command line: its flags and commands.  Reading them (options.c) and
 * the help text (help.c) come from here. */
#ifndef LW_PROCESS_FLAGS_H
#define LW_PROCESS_FLAGS_H

#include <stddef.h>

#include "base/limits.h"

/* What a flag takes, and where it goes: the type of the field of struct lw_options. */
enum lw_unit {
    LW_UNIT_OCTETS,           /* uint64_t, a limit */
    LW_UNIT_COUNT,            /* likewise */
    LW_UNIT_SECONDS,          /* likewise, in milliseconds */
    LW_UNIT_TEXT,             /* const char * */
    LW_UNIT_PATH,             /* const char *, of requests */
    LW_UNIT_SWITCH,           /* bool; takes nothing */
    LW_UNIT_SWITCH_HANDED_ON, /* likewise, and handed on */
    LW_UNIT_LEVEL,            /* enum lw_level */
    LW_UNIT_NETWORK,          /* struct lw_networks, to which it is added */
    LW_UNIT_MODE,             /* uint32_t, of files */
    LW_UNIT_SHOWN_IDS,        /* uint64_t, enum lw_shown_ids */
    LW_UNIT_NAMERS,           /* uint64_t, 1: anyone */
    LW_UNIT_WORKERS,          /* uint32_t, 0: auto */
    LW_UNIT_LISTEN,           /* one more in `listens` */
    LW_UNIT_HANDED_ON         /* to the Lua half, as it is */
};

struct lw_flag {
    const char *name;
    const char *argument; /* its name in the help text; NULL: takes none */
    enum lw_unit unit;
    size_t at; /* of the field in struct lw_options */
    const char *help;
};

extern const struct lw_flag lw_flags[];
extern const size_t lw_flag_count;
extern const struct lw_limits lw_default_limits;

struct lw_command {
    const char *name;
    const char *help; /* NULL: it has no page of its own */
};

extern const struct lw_command lw_commands[];
extern const size_t lw_command_count;

/* The command of this name, or NULL. */
const struct lw_command *lw_command_find(const char *name);

#endif
