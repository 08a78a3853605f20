/* SPDX-License-Identifier: MIT
 *
 * Every flag and every command. */
#include "process/flags.h"

#include <string.h>

#include "process/develop.h"
#include "process/options.h"
#include "process/pages.h"

#define AT(field) offsetof(struct lw_options, field)

const struct lw_limits lw_default_limits = {
#define LIMIT(name, flag, value, unit, help) .name = (value),
    LW_LIMITS(LIMIT)
#undef LIMIT
};

/* clang-format off */
const struct lw_flag lw_flags[] = {
    {"--listen", "host:port|unix:path", LW_UNIT_LISTEN, 0,
     "where to listen, repeatable (default 127.0.0.1:8080)"},
    {"--unix-mode", "octal", LW_UNIT_MODE, AT(unix_mode),
     "of unix sockets, e.g. 660 (default 600: its owner only)"},
    {"--trusted-proxy", "network", LW_UNIT_NETWORK, AT(trusted),
     "repeatable: whose Forwarded, X-Forwarded-* count (10.0.0.0/8, ::1, unix:)"},
    {"--proxy-protocol", NULL, LW_UNIT_SWITCH, AT(demands_proxy_header),
     "connections come from trusted proxies only, with a PROXY header"},
    {"--workers", "n|auto", LW_UNIT_WORKERS, AT(workers),
     "processes that serve; the app's `workers` wins (default auto: one per core)"},
    {"--pin-workers", NULL, LW_UNIT_SWITCH, AT(pin_workers), "keeps each worker on a core of its own"},
    {"--access-log", "[json:]path", LW_UNIT_TEXT, AT(access_log),
     "one line a request, combined, JSON or terminal:path; - is stdout (default off)"},
    {"--control", "path", LW_UNIT_TEXT, AT(control),
     "socket for reload, stop, status (default: see README)"},
    {"--pid-file", "path", LW_UNIT_TEXT, AT(pid_file), "where the pid is written (default likewise)"},
    {"--user", "name", LW_UNIT_TEXT, AT(user), "serves as this user, after root has bound"},
    {"--group", "name", LW_UNIT_TEXT, AT(group), "and as this group (default: the user's)"},
    {"--metrics", "host:port|unix:path", LW_UNIT_TEXT, AT(metrics),
     "where /metrics (for Prometheus) and /health are answered (default off)"},
    {"--health", "/path", LW_UNIT_PATH, AT(health),
     "answered before the app: 200 when ready, 503 when it ends (default off)"},
    {"--log-level", "level", LW_UNIT_LEVEL, AT(log_level),
     "of the error log: debug, info, warn or error (default info)"},
    {"--request-id", "answers", LW_UNIT_SHOWN_IDS, AT(limits.shown_ids),
     "that have X-Request-Id: errors (500 and above), all or none (default errors)"},
    {"--request-id-from", "whom", LW_UNIT_NAMERS, AT(limits.takes_any_id),
     "an X-Request-Id is taken: proxies (trusted ones) or anyone (default proxies)"},
    {"--otlp", "url", LW_UNIT_HANDED_ON, 0,
     "collector that spans go to, OTLP/HTTP as JSON, e.g. http://127.0.0.1:4318"},
    {"--otlp-sample", "ratio", LW_UNIT_HANDED_ON, 0,
     "of the traces that begin here, 0 to 1 (default 1)"},
    {"--verbose", NULL, LW_UNIT_HANDED_ON, 0, "test: names every spec that passes"},
    {"--filter", "pattern", LW_UNIT_HANDED_ON, 0, "test: only specs whose name matches"},
    {"--timeout", "seconds", LW_UNIT_HANDED_ON, 0,
     "test: that a spec may take, 0: no limit (default 60); reload, stop, status: to wait"},
    {"--allow-remote", NULL, LW_UNIT_SWITCH_HANDED_ON, AT(allow_remote),
     "dev: listens where others reach it, and shows them sources"},
    {"--now", NULL, LW_UNIT_HANDED_ON, 0, "stop: cuts what still runs"},
    {"--json", NULL, LW_UNIT_HANDED_ON, 0, "routes, explain, check, status: as JSON"},
    {"--dot", NULL, LW_UNIT_HANDED_ON, 0, "explain: the program and the walk for Graphviz"},
    {"-H", "'Name: value'", LW_UNIT_HANDED_ON, 0,
     "explain, check: a header of the requests, repeatable"},
    {"-d", "body", LW_UNIT_HANDED_ON, 0, "explain: the request's body"},
    {"--param", "name=value", LW_UNIT_HANDED_ON, 0,
     "check: what templates get for a variable, repeatable"},
#define LIMIT(name, flag, value, unit, help) {flag, "n", LW_UNIT_##unit, AT(limits.name), help},
    LW_LIMITS(LIMIT)
#undef LIMIT
};
/* clang-format on */

const size_t lw_flag_count = sizeof lw_flags / sizeof *lw_flags;

/* clang-format off */
const struct lw_command lw_commands[] = {
    {"serve", NULL},
    {"dev", lw_develop_help},
    {"test", lw_page_test},
    {"routes", lw_page_routes},
    {"explain", lw_page_explain},
    {"check", lw_page_check},
    {"reload", lw_page_reload},
    {"stop", lw_page_stop},
    {"status", lw_page_status},
};
/* clang-format on */

const size_t lw_command_count = sizeof lw_commands / sizeof *lw_commands;

const struct lw_command *lw_command_find(const char *name)
{
    for (size_t i = 0; i < lw_command_count; i++)
        if (strcmp(lw_commands[i].name, name) == 0)
            return &lw_commands[i];
    return NULL;
}
