/* SPDX-License-Identifier: MIT
 *
 * Reading the command line.  Flags that only a command's Lua half knows are handed
 * on. */
#include "process/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "process/develop.h"
#include "process/flags.h"
#include "share/board.h"

#define TRY "Try: luaweb --help\n"

static const struct lw_flag *find_flag(const char *text, size_t size)
{
    for (size_t i = 0; i < lw_flag_count; i++)
        if (strlen(lw_flags[i].name) == size
            && memcmp(lw_flags[i].name, text, size) == 0)
            return &lw_flags[i];
    return NULL;
}

/* What a suffix of octets multiplies by; 0: it is none. */
static double factor_of(const char *suffix)
{
    static const char suffixes[] = "kmg";
    if (*suffix == 0)
        return 1;
    const char *found = strchr(suffixes, *suffix);
    return found && suffix[1] == 0 ? ldexp(1, 10 * (int)(found - suffixes + 1)) : 0;
}

/* Reads "10", "1.5" (seconds) or "64k", "8m", "1g" (octets) into a limit. */
static bool read_limit(uint64_t *limit, enum lw_unit unit, const char *text)
{
    size_t digits = strspn(text, "0123456789.");
    char *end;
    double number = strtod(text, &end);
    double factor = unit == LW_UNIT_OCTETS ? factor_of(end) : *end == 0;
    if (digits == 0 || end != text + digits || factor == 0)
        return false;
    number *= factor;
    if (unit == LW_UNIT_SECONDS)
        number = ceil(number * 1000); /* no time is rounded to none */
    if (number != floor(number) || number > (unit == LW_UNIT_COUNT ? UINT32_MAX : 1e15))
        return false;
    *limit = (uint64_t)number;
    return true;
}

static bool wrong(const char *what, const char *which)
{
    fprintf(stderr, "luaweb: %s: %s\n" TRY, what, which);
    return false;
}

static bool wrong_value(const struct lw_flag *flag, const char *value)
{
    static const char network[] = "want an address, a network (no bit set behind its "
                                  "prefix), e.g. 10.0.0.0/8 or fd00::/8, or unix:";
    static const char *const wanted[] = {
        [LW_UNIT_OCTETS] = "want octets, e.g. 65536, 64k or 8m",
        [LW_UNIT_COUNT] = "want a whole number up to 4294967295",
        [LW_UNIT_SECONDS] = "want seconds, e.g. 30 or 0.5",
        [LW_UNIT_TEXT] = "want a name or path",
        [LW_UNIT_PATH] = "want a path as requests have it, e.g. /healthz",
        [LW_UNIT_LEVEL] = "want debug, info, warn or error",
        [LW_UNIT_NETWORK] = network,
        [LW_UNIT_MODE] = "want an octal mode, e.g. 660",
        [LW_UNIT_SHOWN_IDS] = "want errors, all or none",
        [LW_UNIT_NAMERS] = "want proxies or anyone",
        [LW_UNIT_WORKERS] = "want auto, or a number from 1 to 64",
    };
    fprintf(stderr, "luaweb: %s %s: %s\n" TRY, flag->name, value, wanted[flag->unit]);
    return false;
}

/* The place of a word in a list that ends with NULL, or -1. */
static int place_of(const char *text, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return -1;
}

static bool read_level(enum lw_level *level, const char *text)
{
    static const char *const levels[] = {"debug", "info", "warn", "error", NULL};
    int place = place_of(text, levels);
    if (place >= 0)
        *level = (enum lw_level)place;
    return place >= 0;
}

/* A word that is kept as a number. */
static bool read_word(uint64_t *number, const char *text, const char *const *words)
{
    int place = place_of(text, words);
    if (place >= 0)
        *number = (uint64_t)place;
    return place >= 0;
}

static bool read_mode(uint32_t *mode, const char *text)
{
    size_t size = strspn(text, "01234567");
    *mode = (uint32_t)strtoul(text, NULL, 8);
    return size > 0 && text[size] == 0 && size <= 4 && *mode > 0 && *mode <= 0777;
}

static bool read_workers(uint32_t *workers, const char *text)
{
    size_t digits = strspn(text, "0123456789");
    unsigned long count = strtoul(text, NULL, 10);
    bool is_auto = strcmp(text, "auto") == 0;
    *workers = is_auto ? 0 : (uint32_t)count;
    return is_auto
           || (digits > 0 && text[digits] == 0 && count >= 1
               && count <= LW_WORKERS_MOST);
}

/* A path as it may stand in a request (RFC 9112 §3.2.1), else it could never match. */
static bool is_path(const char *text)
{
    if (*text != '/')
        return false;
    for (; *text; text++)
        if (*text <= ' ' || *text >= 0x7f || strchr("?#\"<>\\^`{|}", *text))
            return false;
    return true;
}

static bool read_text(const char **field, const char *text)
{
    *field = text;
    return *text != 0;
}

/* Reads a value to where the flag has it. */
static bool read_value(struct lw_options *options, const struct lw_flag *flag,
                       const char *text)
{
    static const char *const shown[] = {"errors", "all", "none", NULL};
    static const char *const namers[] = {"proxies", "anyone", NULL};
    void *field = (char *)options + flag->at;
    switch (flag->unit) {
    case LW_UNIT_TEXT: return read_text(field, text);
    case LW_UNIT_PATH: return read_text(field, text) && is_path(text);
    case LW_UNIT_LEVEL: return read_level(field, text);
    case LW_UNIT_NETWORK: return lw_networks_add(field, lw_slice(text, strlen(text)));
    case LW_UNIT_MODE: return read_mode(field, text);
    case LW_UNIT_SHOWN_IDS: return read_word(field, text, shown);
    case LW_UNIT_NAMERS: return read_word(field, text, namers);
    case LW_UNIT_WORKERS: return read_workers(field, text);
    case LW_UNIT_LISTEN: options->listens[options->listen_count++] = text; return true;
    default: return read_limit(field, flag->unit, text);
    }
}

static void hand_on(struct lw_options *options, char *text)
{
    options->argv[options->argc++] = text;
}

/* Reads the flag at argv[*at]; its argument may follow an = or be the next word. */
static bool read_flag(struct lw_options *options, int argc, char **argv, int *at)
{
    char *text = argv[*at];
    const char *value = strchr(text, '=');
    const struct lw_flag *flag =
        find_flag(text, value ? (size_t)(value - text) : strlen(text));
    if (!flag)
        return wrong("unknown option", text);
    if (!flag->argument) {
        if (value)
            return wrong("this option takes no value", text);
        if (flag->unit != LW_UNIT_HANDED_ON)
            *(bool *)((char *)options + flag->at) = true;
        if (flag->unit != LW_UNIT_SWITCH)
            hand_on(options, text);
        return true;
    }
    bool is_apart = value == NULL;
    if (is_apart && *at + 1 == argc)
        return wrong("this option needs a value", text);
    value = is_apart ? argv[++*at] : value + 1;
    if (flag->unit != LW_UNIT_HANDED_ON && !read_value(options, flag, value))
        return wrong_value(flag, value);
    if (flag->unit != LW_UNIT_HANDED_ON && flag->unit != LW_UNIT_LISTEN)
        return true;
    hand_on(options, text);
    if (is_apart)
        hand_on(options, argv[*at]);
    return true;
}

bool lw_options_read(struct lw_options *options, int argc, char **argv)
{
    static char serve[] = "serve";
    memset(options, 0, sizeof *options);
    options->log_level = LW_LOG_INFO;
    options->limits = lw_default_limits;
    options->argv = lw_alloc(((unsigned long)argc + 2) * sizeof *options->argv);
    options->listens = lw_alloc(((unsigned long)argc + 1) * sizeof *options->listens);
    int at = 1;
    hand_on(options, at < argc && lw_command_find(argv[at]) ? argv[at++] : serve);
    for (; at < argc; at++) {
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0)
            options->wants_help = true;
        else if (strcmp(argv[at], "--version") == 0)
            options->wants_version = true;
        else if (argv[at][0] != '-') {
            hand_on(options, argv[at]);
            if (options->word_count++ == 0)
                options->word = argv[at];
        } else if (!read_flag(options, argc, argv, &at))
            return false;
    }
    if (options->demands_proxy_header && !lw_networks_any(&options->trusted))
        return wrong("--proxy-protocol",
                     "needs --trusted-proxy, to know whose headers to believe");
    options->argv[options->argc] = NULL;
    return lw_develop_read(options);
}

void lw_options_free(struct lw_options *options)
{
    free(options->argv);
    free(options->listens);
    options->argv = NULL;
    options->listens = NULL;
}
