/* SPDX-License-Identifier: MIT
 *
 * What `luaweb status` shows. */
#include "process/status.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "share/board.h"

#define BUSY_SHOWN_MS 1000 /* shorter turns are nothing to look at */

struct worker {
    uint32_t number; /* from 1, as in the log */
    int32_t pid;
    const char *state;
    uint32_t generation;
    uint32_t conn_count;
    uint64_t busy_ms;
};

static const char *state_of(uint32_t state)
{
    static const char *const names[] = {
        [LW_SLOT_EMPTY] = "none",
        [LW_SLOT_LOADING] = "loading",
        [LW_SLOT_READY] = "ready",
        [LW_SLOT_DRAINING] = "draining",
    };
    return state < sizeof names / sizeof *names ? names[state] : "unknown";
}

static void look_at(struct worker *worker, const struct lw_status *status, uint32_t i)
{
    const struct lw_slot *s = &lw_board()->slots[status->first_slot + i];
    *worker = (struct worker){
        .number = i + 1,
        .pid = atomic_load_explicit(&s->pid, memory_order_relaxed),
        .state = state_of(atomic_load_explicit(&s->state, memory_order_relaxed)),
        .generation = atomic_load_explicit(&s->generation, memory_order_relaxed),
        .conn_count = atomic_load_explicit(&s->conn_count, memory_order_relaxed),
        .busy_ms = lw_slot_still_ms(s),
    };
}

static void print_uptime(FILE *out, uint64_t ms)
{
    uint64_t seconds = ms / 1000;
    if (seconds >= 86400)
        fprintf(out, "%" PRIu64 " d %" PRIu64 " h", seconds / 86400,
                seconds / 3600 % 24);
    else if (seconds >= 3600)
        fprintf(out, "%" PRIu64 " h %" PRIu64 " min", seconds / 3600,
                seconds / 60 % 60);
    else if (seconds >= 60)
        fprintf(out, "%" PRIu64 " min %" PRIu64 " s", seconds / 60, seconds % 60);
    else
        fprintf(out, "%" PRIu64 " s", seconds);
}

/* A path may have any octet; it must not make lines of its own. */
static void print_name(FILE *out, const char *label, const char *name)
{
    fprintf(out, "%-12s", label);
    for (; *name; name++)
        fputc((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name, out);
    fputc('\n', out);
}

static void print_workers(FILE *out, const struct lw_status *status)
{
    fprintf(out, "%-8s%-9s%-10s%-12s%s\n", "worker", "pid", "state", "generation",
            "connections");
    for (uint32_t i = 0; i < status->worker_count; i++) {
        struct worker w;
        look_at(&w, status, i);
        fprintf(out, "%-8" PRIu32 "%-9" PRId32 "%-10s%-12" PRIu32 "%" PRIu32, w.number,
                w.pid, w.state, w.generation, w.conn_count);
        if (w.busy_ms >= BUSY_SHOWN_MS)
            fprintf(out, "  (its loop stands still for %.1f s)",
                    (double)w.busy_ms / 1000);
        fputc('\n', out);
    }
}

void lw_status_print(FILE *out, const struct lw_status *status)
{
    fprintf(out, "luaweb %s, pid %d, %s, up ", LUAWEB_VERSION, (int)getpid(),
            status->state);
    print_uptime(out, status->uptime_ms);
    fputc('\n', out);
    print_name(out, "app", status->app);
    for (uint32_t i = 0; i < status->listener_count; i++)
        print_name(out, i == 0 ? "listens on" : "", status->listeners[i]);
    fprintf(out,
            "generation  %" PRIu32 " (%" PRIu32 " reloads, %" PRIu32
            " that failed)\nrestarts    %" PRIu32 " of workers\n\n",
            status->generation, status->reloads, status->failed_reloads,
            status->restarts);
    print_workers(out, status);
}

static void print_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void print_workers_json(FILE *out, const struct lw_status *status)
{
    for (uint32_t i = 0; i < status->worker_count; i++) {
        struct worker w;
        look_at(&w, status, i);
        fprintf(out,
                "%s{\"worker\":%" PRIu32 ",\"pid\":%" PRId32
                ",\"state\":\"%s\",\"generation\":%" PRIu32 ",\"connections\":%" PRIu32
                ",\"busy\":%.3f}",
                i > 0 ? "," : "", w.number, w.pid, w.state, w.generation, w.conn_count,
                (double)w.busy_ms / 1000);
    }
}

void lw_status_print_json(FILE *out, const struct lw_status *status)
{
    fprintf(out,
            "{\"version\":\"%s\",\"pid\":%d,\"state\":\"%s\",\"app\":", LUAWEB_VERSION,
            (int)getpid(), status->state);
    print_string(out, status->app);
    fprintf(out,
            ",\"uptime\":%.3f,\"generation\":%" PRIu32 ",\"reloads\":%" PRIu32
            ",\"failed_reloads\":%" PRIu32 ",\"restarts\":%" PRIu32 ",\"listeners\":[",
            (double)status->uptime_ms / 1000, status->generation, status->reloads,
            status->failed_reloads, status->restarts);
    for (uint32_t i = 0; i < status->listener_count; i++) {
        if (i > 0)
            fputc(',', out);
        print_string(out, status->listeners[i]);
    }
    fputs("],\"workers\":[", out);
    print_workers_json(out, status);
    fputs("]}\n", out);
}
