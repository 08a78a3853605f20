/* SPDX-License-Identifier: MIT
 *
 * Counting requests.  Those of a turn that are alike are counted together, since they
 * took the same time. */
#include "net/tally.h"

#include <string.h>
#include <time.h>

#include "base/slice.h"

void lw_tally_construct(struct lw_tally *tally)
{
    *tally = (struct lw_tally){.metrics = lw_metrics(), .slot = lw_metrics_own()};
}

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t lw_tally_look(struct lw_tally *tally)
{
    tally->now_ns = clock_ns();
    return tally->now_ns;
}

static void note(struct lw_tally *tally, const struct lw_ended *ended, uint64_t now_ns)
{
    uint32_t series = lw_metrics_series(tally->metrics, ended->key);
    lw_metrics_bump(&tally->slot->series[series], ended->count);
    lw_metrics_took(tally->slot, lw_metrics_key_label(ended->key),
                    now_ns - ended->began_ns, ended->count);
}

static void note_all(struct lw_tally *tally)
{
    uint64_t now_ns = clock_ns();
    for (uint32_t i = 0; i < tally->count; i++)
        note(tally, &tally->ended[i], now_ns);
    note(tally, &tally->last, now_ns);
    tally->count = 0;
    tally->last.key = 0;
}

void lw_tally_begin(struct lw_tally *tally, uint32_t key, uint64_t began_ns)
{
    if (tally->count == LW_TALLY_KINDS)
        note_all(tally);
    if (tally->last.key)
        tally->ended[tally->count++] = tally->last;
    tally->last = (struct lw_ended){began_ns, key, 1};
}

void lw_tally_refusal(struct lw_tally *tally, int status, const char *why)
{
    uint32_t label = lw_metrics_label(lw_slice(why, strlen(why)));
    uint32_t key = lw_metrics_key(LW_METRIC_REFUSAL, label, 0, (uint32_t)status);
    lw_metrics_bump(&tally->slot->series[lw_metrics_series(tally->metrics, key)], 1);
}

void lw_tally_settle(struct lw_tally *tally)
{
    if (tally->last.key)
        note_all(tally);
    tally->now_ns = 0;
    lw_tally_show(tally);
}
