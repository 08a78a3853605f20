/* SPDX-License-Identifier: MIT
 *
 * The program: reads the command line, opens a host, and lets its Lua half run the
 * command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/work.h"
#include "process/descriptors.h"
#include "process/inherit.h"
#include "process/options.h"
#include "process/worker.h"
#include "share/board.h"
#include "share/metrics.h"
#include "share/region.h"

/* Ends the process although threads still run; one of them may be stuck while it holds
 * the standard output. */
static _Noreturn void quit(int code)
{
    lw_log(LW_LOG_WARN, "stopping: what still runs on the thread pool is cut short");
    if (ftrylockfile(stdout) == 0)
        fflush(stdout);
    _exit(code);
}

static int run(struct lw_options *options)
{
    static struct lw_worker worker;
    lw_log_threshold(options->log_level);
    lw_work_size_pool();
    uint64_t descriptors = lw_descriptors_raise();
    if (strcmp(options->argv[0], "serve") == 0)
        lw_descriptors_bound(&options->limits, descriptors);
    int code = 2;
    struct lw_inherited inherited;
    bool is_worker = lw_inherit_read(&inherited);
    if (!lw_share_open(is_worker ? inherited.shared : -1)) {
        fprintf(stderr, "luaweb: no shared memory: %s\n", strerror(errno));
        return 1;
    }
    if (is_worker) {
        static char work[] = "work";
        lw_board_take(inherited.slot);
        lw_metrics_take(inherited.slot);
        options->argv[0] = work;
    }
    if (lw_worker_construct(&worker, options, is_worker ? &inherited : NULL))
        code = lw_worker_run(&worker, is_worker ? inherited.generation : 1);
    if (!lw_worker_destruct(&worker))
        quit(code);
    return code;
}

/* Lua's own limit on recursion must be met before the C stack's: through string.gsub
 * and the like it takes up to 10 KiB a level, and the usual 8 MiB would not do. */
static void widen_stack(void)
{
    const rlim_t wanted = LW_LUA_STACK;
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_STACK, &limit);
}

int main(int argc, char **argv)
{
    struct lw_options options;
    int code = 0;
    widen_stack();
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!lw_options_read(&options, argc, argv))
        code = 2;
    else if (options.wants_help)
        lw_options_print_help(&options);
    else if (options.wants_version)
        puts("luaweb " LUAWEB_VERSION);
    else
        code = run(&options);
    lw_options_free(&options);
    return code;
}
