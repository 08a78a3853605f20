/* SPDX-License-Identifier: MIT
 *
 * Counting requests.  Those of a turn that are alike are counted together, since they
 * took the same time. */
#include "net/tally.h"

#include <string.h>
#include <uv.h>

#include "base/slice.h"

void lw_tally_construct(struct lw_tally *tally)
{
    *tally = (struct lw_tally){.metrics = lw_metrics(), .slot = lw_metrics_own()};
}

uint64_t lw_tally_look(struct lw_tally *tally)
{
    tally->now_ns = uv_hrtime();
    return tally->now_ns;
}

/* Notes how long those took that have ended. */
static void note_all(struct lw_tally *tally, uint64_t now_ns)
{
    for (uint32_t i = 0; i < tally->count; i++) {
        const struct lw_ended *ended = &tally->ended[i];
        uint64_t took_ns = now_ns > ended->began_ns ? now_ns - ended->began_ns : 0;
        lw_metrics_took(tally->slot, ended->label, took_ns, ended->count);
    }
    tally->count = 0;
}

static void end(struct lw_tally *tally, uint32_t label, uint64_t began_ns)
{
    if (tally->count > 0) {
        struct lw_ended *last = &tally->ended[tally->count - 1];
        if (last->label == label && last->began_ns == began_ns) {
            last->count++;
            return;
        }
    }
    if (tally->count == LW_TALLY_KINDS)
        note_all(tally, uv_hrtime());
    tally->ended[tally->count++] = (struct lw_ended){began_ns, label, 1};
}

void lw_tally_request(struct lw_tally *tally, struct luaweb_slice method, int status,
                      uint32_t label, uint64_t began_ns)
{
    bool is_get = method.size == 3 && memcmp(method.data, "GET", 3) == 0;
    uint32_t number = is_get ? LW_METRIC_GET : lw_metrics_method(method);
    uint32_t key = lw_metrics_key(LW_METRIC_REQUEST, label, number, (uint32_t)status);
    tally->series = lw_metrics_series(tally->metrics, key);
    tally->label = label;
    lw_metrics_bump(&tally->slot->series[tally->series], 1);
    end(tally, label, began_ns);
}

void lw_tally_again(struct lw_tally *tally, uint32_t series, uint32_t label)
{
    lw_metrics_bump(&tally->slot->series[series], 1);
    end(tally, label, lw_tally_now(tally));
}

void lw_tally_refusal(struct lw_tally *tally, int status, const char *why)
{
    uint32_t label = lw_metrics_label(lw_slice(why, strlen(why)));
    uint32_t key = lw_metrics_key(LW_METRIC_REFUSAL, label, 0, (uint32_t)status);
    lw_metrics_bump(&tally->slot->series[lw_metrics_series(tally->metrics, key)], 1);
}

void lw_tally_settle(struct lw_tally *tally)
{
    if (tally->count > 0)
        note_all(tally, uv_hrtime());
    tally->now_ns = 0;
}
