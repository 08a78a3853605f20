/* SPDX-License-Identifier: MIT
 *
 * What --help prints. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "process/flags.h"
#include "process/options.h"

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

/* Of a limit. */
static void print_default(const struct lw_flag *flag)
{
    const char *limits = (const char *)&lw_default_limits;
    const uint64_t *limit =
        (const uint64_t *)(limits + (flag->at - offsetof(struct lw_options, limits)));
    if (*limit == 0)
        puts(" (default none)");
    else if (flag->unit == LW_UNIT_OCTETS)
        print_octets(*limit);
    else if (flag->unit == LW_UNIT_SECONDS)
        printf(" (default %g s)\n", (double)*limit / 1000);
    else
        printf(" (default %llu)\n", (unsigned long long)*limit);
}

static void print_flags(void)
{
    for (size_t i = 0; i < lw_flag_count; i++) {
        const struct lw_flag *flag = &lw_flags[i];
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", flag->name, flag->argument ? " " : "",
                 flag->argument ? flag->argument : "");
        printf("  %-29s %s", left, flag->help);
        if (flag->unit <= LW_UNIT_SECONDS)
            print_default(flag);
        else
            putchar('\n');
    }
}

void lw_options_print_help(const struct lw_options *options)
{
    const struct lw_command *command = lw_command_find(options->argv[0]);
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
