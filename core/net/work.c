/* SPDX-License-Identifier: MIT
 *
 * The lines are ours since the pool's own queue knows no kinds: as many slow ones as it
 * has threads, and everything else stands behind them.  Nothing is given to the pool
 * but what a thread is free for, so its queue stays empty, and uv_cancel is not needed
 * (it could not tell whether work has begun). */
#include "net/work.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/require.h"
#include "net/loop.h"
#include "share/board.h"

static const struct bounds {
    uint32_t at_once;
    uint32_t in_line;
} bounds_of[LW_WORK_KINDS] = {
  /*                   at once, in line */
    [LW_WORK_HASH] = {2, 32  }, /* 128 MiB; the last waits for a second or two */
    [LW_WORK_NAME] = {4, 256 },
    [LW_WORK_OFFLOAD] = {4, 256 }, /* at most */
    [LW_WORK_FILE] = {4, 1024},
};

static uint32_t at_once(enum lw_work_kind kind)
{
    uint32_t most = bounds_of[kind].at_once;
    if (kind != LW_WORK_OFFLOAD)
        return most;
    uint32_t cores = uv_available_parallelism();
    return cores < most ? cores : most;
}

uint32_t lw_work_threads(void)
{
    uint32_t count = 1;
    for (int kind = 0; kind < LW_WORK_KINDS; kind++)
        count += at_once(kind);
    return count;
}

void lw_work_size_pool(void)
{
    uint32_t wanted = lw_work_threads();
    const char *given = getenv("UV_THREADPOOL_SIZE");
    if (given) {
        if (strtoul(given, NULL, 10) < wanted)
            lw_log(LW_LOG_WARN,
                   "UV_THREADPOOL_SIZE=%.20s: with fewer than %u threads, slow hashes, "
                   "names, files and offloaded functions hold up each other",
                   given, wanted);
        return;
    }
    char text[16];
    snprintf(text, sizeof text, "%u", wanted);
    setenv("UV_THREADPOOL_SIZE", text, 1);
}

void lw_work_shield(sigset_t *before)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPROF);
    sigaddset(&blocked, LW_SIGNAL_STALLED);
    pthread_sigmask(SIG_BLOCK, &blocked, before);
}

void lw_work_unshield(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void lw_works_construct(struct lw_works *works)
{
    *works = (struct lw_works){.is_closed = false};
    for (int kind = 0; kind < LW_WORK_KINDS; kind++) {
        works->lines[kind].at_once = at_once(kind);
        works->lines[kind].end = &works->lines[kind].first;
    }
}

void lw_works_close(struct lw_works *works)
{
    works->is_closed = true;
}

static struct lw_work_line *line_of(const struct lw_work *work)
{
    return &work->loop->works.lines[work->kind];
}

static_assert(LW_WORK_KINDS == 4 && LW_METRIC_NAMES_DONE == LW_METRIC_HASHES_DONE + 1
                  && LW_METRIC_FILES_DONE == LW_METRIC_HASHES_DONE + LW_WORK_FILE,
              "each group has a row of each kind, in their order");
static void count(const struct lw_work *work, enum lw_metric first, double by)
{
    lw_tally_add(&work->loop->tally, first + (enum lw_metric)work->kind, by);
}

static void take_out(struct lw_work_line *line, struct lw_work **link)
{
    struct lw_work *work = *link;
    *link = work->next;
    if (line->end == &work->next)
        line->end = link;
    work->next = NULL;
    count(work, LW_METRIC_HASHES_WAITING, -1);
    line->in_line--;
}

static void on_run(uv_work_t *uv)
{
    struct lw_work *work = uv->data;
    work->run(work);
}

static void begin_next(struct lw_loop *loop, struct lw_work_line *line);

static void on_done(uv_work_t *uv, int status)
{
    struct lw_work *work = uv->data;
    struct lw_work_line *line = line_of(work);
    (void)status; /* nothing is ever cancelled */
    line->running--;
    line->done++;
    count(work, LW_METRIC_HASHES_RUNNING, -1);
    count(work, LW_METRIC_HASHES_DONE, 1);
    work->state = LW_WORK_IDLE;
    begin_next(work->loop, line);
    work->done(work);
}

static void begin_next(struct lw_loop *loop, struct lw_work_line *line)
{
    struct lw_work *work = line->first;
    if (!work || line->running == line->at_once || loop->works.is_closed)
        return;
    take_out(line, &line->first);
    line->running++;
    count(work, LW_METRIC_HASHES_RUNNING, 1);
    work->state = LW_WORK_RUNNING;
    work->uv.data = work;
    sigset_t before;
    lw_work_shield(&before); /* the pool's threads are made with its first work */
    lw_require(uv_queue_work(&loop->uv, &work->uv, on_run, on_done) == 0);
    lw_work_unshield(&before);
}

bool lw_work_start(struct lw_loop *loop, struct lw_work *work, enum lw_work_kind kind)
{
    struct lw_work_line *line = &loop->works.lines[kind];
    lw_require(work->state == LW_WORK_IDLE && work->run && work->done);
    work->loop = loop;
    work->kind = kind;
    if (line->in_line == bounds_of[kind].in_line) {
        line->refused++;
        count(work, LW_METRIC_HASHES_REFUSED, 1);
        return false;
    }
    work->state = LW_WORK_IN_LINE;
    work->next = NULL;
    *line->end = work;
    line->end = &work->next;
    line->in_line++;
    count(work, LW_METRIC_HASHES_WAITING, 1);
    begin_next(loop, line);
    return true;
}

bool lw_work_cancel(struct lw_work *work)
{
    if (work->state != LW_WORK_IN_LINE)
        return false;
    struct lw_work_line *line = line_of(work);
    struct lw_work **link = &line->first;
    while (*link != work)
        link = &(*link)->next;
    take_out(line, link);
    work->state = LW_WORK_IDLE;
    return true;
}
