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
#include "process/pages.h"

enum unit {
    OCTETS,
    COUNT,
    SECONDS,
    PATH,
    TEXT,
    HEALTH,
    LEVEL,
    NETWORK,
    MODE,
    PROXY_HEADER,
    SHOWN_IDS,
    NAMERS,
    LISTEN, /* handed on too */
    WORKERS,
    PIN,
    REMOTE, /* handed on too */
    HANDED_ON
};

struct flag {
    const char *name;
    const char *argument; /* its name in the help text; NULL: takes none */
    enum unit unit;
    uint64_t *limit;
    const char *help;
};

static struct lw_limits limits = {
#define LIMIT(name, flag, value, unit, help) .name = (value),
    LW_LIMITS(LIMIT)
#undef LIMIT
};

/* clang-format off */
static const struct flag flags[] = {
    {"--listen", "host:port|unix:path", LISTEN, NULL,
     "where to listen, repeatable (default 127.0.0.1:8080)"},
    {"--unix-mode", "octal", MODE, NULL,
     "of unix sockets, e.g. 660 (default 600: its owner only)"},
    {"--trusted-proxy", "network", NETWORK, NULL,
     "repeatable: whose Forwarded, X-Forwarded-* count (10.0.0.0/8, ::1, unix:)"},
    {"--proxy-protocol", NULL, PROXY_HEADER, NULL,
     "connections come from trusted proxies only, with a PROXY header"},
    {"--workers", "n|auto", WORKERS, NULL,
     "processes that serve; the app's `workers` wins (default auto: one per core)"},
    {"--pin-workers", NULL, PIN, NULL, "keeps each worker on a core of its own"},
    {"--access-log", "[json:]path", PATH, NULL,
     "one line a request, combined, JSON or terminal:path; - is stdout (default off)"},
    {"--control", "path", TEXT, NULL,
     "socket for reload, stop, status (default: see README)"},
    {"--pid-file", "path", TEXT, NULL, "where the pid is written (default likewise)"},
    {"--user", "name", TEXT, NULL, "serves as this user, after root has bound"},
    {"--group", "name", TEXT, NULL, "and as this group (default: the user's)"},
    {"--metrics", "host:port|unix:path", TEXT, NULL,
     "where /metrics (for Prometheus) and /health are answered (default off)"},
    {"--health", "/path", HEALTH, NULL,
     "answered before the app: 200 when ready, 503 when it ends (default off)"},
    {"--log-level", "level", LEVEL, NULL,
     "of the error log: debug, info, warn or error (default info)"},
    {"--request-id", "answers", SHOWN_IDS, NULL,
     "that have X-Request-Id: errors (500 and above), all or none (default errors)"},
    {"--request-id-from", "whom", NAMERS, NULL,
     "an X-Request-Id is taken: proxies (trusted ones) or anyone (default proxies)"},
    {"--otlp", "url", HANDED_ON, NULL,
     "collector that spans go to, OTLP/HTTP as JSON, e.g. http://127.0.0.1:4318"},
    {"--otlp-sample", "ratio", HANDED_ON, NULL,
     "of the traces that begin here, 0 to 1 (default 1)"},
    {"--verbose", NULL, HANDED_ON, NULL, "test: names every spec that passes"},
    {"--filter", "pattern", HANDED_ON, NULL, "test: only specs whose name matches"},
    {"--timeout", "seconds", HANDED_ON, NULL,
     "test: that a spec may take, 0: no limit (default 60)"},
    {"--allow-remote", NULL, REMOTE, NULL,
     "dev: listens where others reach it, and shows them sources"},
    {"--now", NULL, HANDED_ON, NULL, "stop: cuts what still runs"},
    {"--json", NULL, HANDED_ON, NULL, "routes, explain, check, status: as JSON"},
    {"--dot", NULL, HANDED_ON, NULL, "explain: the program and the walk for Graphviz"},
    {"-H", "'Name: value'", HANDED_ON, NULL,
     "explain, check: a header of the requests, repeatable"},
    {"-d", "body", HANDED_ON, NULL, "explain: the request's body"},
    {"--param", "name=value", HANDED_ON, NULL,
     "check: what templates get for a variable, repeatable"},
#define LIMIT(name, flag, value, unit, help) {flag, "n", unit, &limits.name, help},
    LW_LIMITS(LIMIT)
#undef LIMIT
};
/* clang-format on */

#define FLAG_COUNT (sizeof flags / sizeof *flags)

struct command {
    const char *name;
    const char *help; /* NULL: it has no page of its own */
};

/* clang-format off */
static const struct command commands[] = {
    {"serve", NULL},
    {"dev", lw_develop_help},
    {"test", NULL},
    {"routes", lw_page_routes},
    {"explain", lw_page_explain},
    {"check", lw_page_check},
    {"reload", lw_page_reload},
    {"stop", lw_page_stop},
    {"status", lw_page_status},
};
/* clang-format on */

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

#define TRY "Try: luaweb --help\n"

static const struct flag *find_flag(const char *text, size_t size)
{
    for (size_t i = 0; i < FLAG_COUNT; i++)
        if (strlen(flags[i].name) == size && memcmp(flags[i].name, text, size) == 0)
            return &flags[i];
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
static bool read_limit(const struct flag *flag, const char *text)
{
    size_t digits = strspn(text, "0123456789.");
    char *end;
    double number = strtod(text, &end);
    double factor = flag->unit == OCTETS ? factor_of(end) : *end == 0;
    if (digits == 0 || end != text + digits || factor == 0)
        return false;
    number *= factor;
    if (flag->unit == SECONDS)
        number = ceil(number * 1000); /* no time is rounded to none */
    if (number != floor(number) || number > (flag->unit == COUNT ? UINT32_MAX : 1e15))
        return false;
    *flag->limit = (uint64_t)number;
    return true;
}

static bool wrong(const char *what, const char *which)
{
    fprintf(stderr, "luaweb: %s: %s\n" TRY, what, which);
    return false;
}

static bool wrong_value(const struct flag *flag, const char *value)
{
    static const char *const wanted[] = {
        [OCTETS] = "want octets, e.g. 65536, 64k or 8m",
        [COUNT] = "want a whole number up to 4294967295",
        [SECONDS] = "want seconds, e.g. 30 or 0.5",
        [PATH] = "want a path, e.g. json:/var/log/app.log",
        [TEXT] = "want a name",
        [LEVEL] = "want debug, info, warn or error",
        [NETWORK] = "want an address, a network, e.g. 10.0.0.0/8 or fd00::/8, or unix:",
        [HEALTH] = "want a path as requests have it, e.g. /healthz",
        [MODE] = "want an octal mode, e.g. 660",
        [SHOWN_IDS] = "want errors, all or none",
        [NAMERS] = "want proxies or anyone",
        [WORKERS] = "want auto, or a number from 1 to 64",
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

static bool read_level(struct lw_options *options, const char *text)
{
    static const char *const levels[] = {"debug", "info", "warn", "error", NULL};
    int level = place_of(text, levels);
    if (level >= 0)
        options->log_level = (enum lw_level)level;
    return level >= 0;
}

/* A word that is kept as a number among the limits. */
static bool read_word(uint64_t *number, const char *text, const char *const *words)
{
    int place = place_of(text, words);
    if (place >= 0)
        *number = (uint64_t)place;
    return place >= 0;
}

static bool read_mode(struct lw_options *options, const char *text)
{
    size_t size = strspn(text, "01234567");
    options->unix_mode = (uint32_t)strtoul(text, NULL, 8);
    return size > 0 && text[size] == 0 && size <= 4 && options->unix_mode > 0
           && options->unix_mode <= 0777;
}

static bool read_text(struct lw_options *options, const struct flag *flag,
                      const char *text)
{
    const struct {
        const char *name;
        const char **at;
    } fields[] = {
        {"--control",  &options->control },
        {"--pid-file", &options->pid_file},
        {"--user",     &options->user    },
        {"--group",    &options->group   },
        {"--metrics",  &options->metrics },
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(fields[i].name, flag->name) == 0)
            *fields[i].at = text;
    return *text != 0;
}

static bool read_workers(struct lw_options *options, const char *text)
{
    char *end;
    unsigned long count = strtoul(text, &end, 10);
    bool is_auto = strcmp(text, "auto") == 0;
    options->workers = is_auto ? 0 : (uint32_t)count;
    return is_auto || (*end == 0 && count >= 1 && count <= 64);
}

static bool read_value(struct lw_options *options, const struct flag *flag,
                       const char *text)
{
    static const char *const shown[] = {"errors", "all", "none", NULL};
    static const char *const namers[] = {"proxies", "anyone", NULL};
    switch (flag->unit) {
    case LEVEL: return read_level(options, text);
    case NETWORK:
        return lw_networks_add(&options->trusted, lw_slice(text, strlen(text)));
    case MODE: return read_mode(options, text);
    case SHOWN_IDS: return read_word(&limits.shown_ids, text, shown);
    case NAMERS: return read_word(&limits.takes_any_id, text, namers);
    case TEXT: return read_text(options, flag, text);
    case HEALTH: options->health = text; return *text == '/' && !strpbrk(text, "?# ");
    case PATH: options->access_log = text; return *text != 0;
    case LISTEN: options->listens[options->listen_count++] = text; return true;
    case WORKERS: return read_workers(options, text);
    default: return read_limit(flag, text);
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
    const struct flag *flag =
        find_flag(text, value ? (size_t)(value - text) : strlen(text));
    if (!flag)
        return wrong("unknown option", text);
    if (!flag->argument) {
        if (value)
            return wrong("this option takes no value", text);
        if (flag->unit == PROXY_HEADER)
            options->demands_proxy_header = true;
        else if (flag->unit == PIN)
            options->pin_workers = true;
        else
            hand_on(options, text);
        options->allow_remote |= flag->unit == REMOTE;
        return true;
    }
    bool is_apart = value == NULL;
    if (is_apart && *at + 1 == argc)
        return wrong("this option needs a value", text);
    value = is_apart ? argv[++*at] : value + 1;
    if (flag->unit != HANDED_ON && !read_value(options, flag, value))
        return wrong_value(flag, value);
    if (flag->unit != HANDED_ON && flag->unit != LISTEN)
        return true;
    hand_on(options, text);
    if (is_apart)
        hand_on(options, argv[*at]);
    return true;
}

/* NULL: it is none. */
static const struct command *find_command(const char *text)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, text) == 0)
            return &commands[i];
    return NULL;
}

bool lw_options_read(struct lw_options *options, int argc, char **argv)
{
    static char serve[] = "serve";
    memset(options, 0, sizeof *options);
    options->log_level = LW_LOG_INFO;
    options->argv = lw_alloc(((unsigned long)argc + 2) * sizeof *options->argv);
    options->listens = lw_alloc(((unsigned long)argc + 1) * sizeof *options->listens);
    int at = 1;
    hand_on(options, at < argc && find_command(argv[at]) ? argv[at++] : serve);
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
    options->limits = limits;
    return lw_develop_read(options);
}

void lw_options_free(struct lw_options *options)
{
    free(options->argv);
    free(options->listens);
    options->argv = NULL;
    options->listens = NULL;
}

static void print_octets(uint64_t value)
{
    static const char suffixes[] = "gmk";
    for (int i = 0; i < 3; i++) {
        uint64_t unit = (uint64_t)1 << (10 * (3 - i));
        if (value > 0 && value % unit == 0) {
            printf(" (default %llu%c)\n", (unsigned long long)(value / unit),
                   suffixes[i]);
            return;
        }
    }
    printf(" (default %llu)\n", (unsigned long long)value);
}

static void print_default(const struct flag *flag)
{
    if (flag->unit == OCTETS)
        print_octets(*flag->limit);
    else if (flag->unit == SECONDS && *flag->limit > 0)
        printf(" (default %g s)\n", (double)*flag->limit / 1000);
    else if (*flag->limit > 0)
        printf(" (default %llu)\n", (unsigned long long)*flag->limit);
    else
        puts(" (default none)");
}

static void print_flags(void)
{
    for (size_t i = 0; i < FLAG_COUNT; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", flags[i].name,
                 flags[i].argument ? " " : "",
                 flags[i].argument ? flags[i].argument : "");
        printf("  %-29s %s", left, flags[i].help);
        if (flags[i].limit)
            print_default(&flags[i]);
        else
            putchar('\n');
    }
}

void lw_options_print_help(const struct lw_options *options)
{
    const struct command *command = find_command(options->argv[0]);
    if (command && command->help) {
        fputs(command->help, stdout);
        return;
    }
    fputs(
        "luaweb serves a web application that is one Lua script.\n\n"
        "  luaweb app.lua               serve it\n"
        "  luaweb dev app.lua           serve it while you write it\n"
        "  luaweb test [dir|file ...]   run specs inside luaweb (default: spec)\n"
        "  luaweb routes app.lua        its resources and their methods\n"
        "  luaweb explain app.lua /path how it answers a request, and why\n"
        "  luaweb check app.lua         whether it does what HTTP requires\n"
        "  luaweb reload | stop | status\n"
        "                               tells or asks a running server\n\n"
        "Examples\n"
        "  luaweb apps/hello.lua\n"
        "  luaweb apps/hello.lua --listen 0.0.0.0:80 --listen unix:/run/hello.sock\n"
        "  luaweb apps/hello.lua --max-body 64m --idle-timeout 30\n"
        "  luaweb explain apps/hello.lua GET /hello -H 'If-None-Match: *'\n"
        "  luaweb test spec/hello_spec.lua\n\n"
        "Options (octets take k, m, g; times are seconds; 0 switches a timeout off)\n",
        stdout);
    print_flags();
    fputs(
        "  --version                     the version\n"
        "  --help                        this text; after a command: its own\n\n"
        "Exit codes: 0 done; 1 the app is wrong; 2 wrong usage; 3 can't listen;\n"
        "            4 a spec or a check failed; 5 no answer from the running server;\n"
        "            130 ended by a second SIGINT\n",
        stdout);
}
