/* SPDX-License-Identifier: MIT
 *
 * The program: reads the command line, and becomes a master, a worker of one, or a
 * process that runs a command alone. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/work.h"
#include "process/descriptors.h"
#include "process/inherit.h"
#include "process/master.h"
#include "process/options.h"
#include "process/remote.h"
#include "process/worker.h"
#include "share/board.h"
#include "share/interest.h"
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

static bool is_served(const struct lw_options *options)
{
    return strcmp(options->argv[0], "serve") == 0
           || strcmp(options->argv[0], "dev") == 0;
}

/* Runs a command, or what a worker does: `inherited` is NULL where there is no master. */
static int work(struct lw_options *options, const struct lw_inherited *inherited)
{
    static struct lw_worker worker;
    static char name[] = "work";
    lw_work_size_pool();
    if (!lw_share_open(inherited ? inherited->shared : -1)) {
        fprintf(stderr, "luaweb: no shared memory: %s\n", strerror(errno));
        return 1;
    }
    if (inherited) {
        lw_board_take(inherited->slot);
        lw_metrics_take(inherited->slot);
        lw_interest_reset();
        if (!options->is_dev)
            options->argv[0] = name;
    }
    int code = 2;
    if (lw_worker_construct(&worker, options, inherited))
        code = lw_worker_run(&worker, inherited ? inherited->generation : 1);
    if (!lw_worker_destruct(&worker))
        quit(code);
    return code;
}

static int run(struct lw_options *options, char **argv)
{
    struct lw_inherited inherited;
    bool is_worker = lw_inherit_read(&inherited);
    lw_log_threshold(options->log_level);
    uint64_t descriptors = lw_descriptors_raise();
    if (!is_served(options))
        return work(options, NULL);
    if (!is_worker)
        return lw_master_run(options, argv);
    lw_descriptors_bound(&options->limits, descriptors, inherited.is_first);
    return work(options, &inherited);
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
    else if (lw_remote_is(options.argv[0]))
        code = lw_remote_run(&options);
    else
        code = run(&options, argv);
    lw_options_free(&options);
    return code;
}
