/* SPDX-License-Identifier: MIT
 *
 * Starting a worker: this executable again, with its channel and the shared memory; and
 * what follows when it ends.  One that dies is replaced at once, one that dies again and
 * again after a time that doubles. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/require.h"
#include "process/cores.h"
#include "process/environment.h"
#include "process/inherit.h"
#include "process/master.h"
#include "share/metrics.h"

#define BACK_OFF_FIRST_MS 100
#define BACK_OFF_MOST_MS  10000
#define LIVED_MS          10000 /* after which a death is no part of a crash loop */

/* Where a worker finds what it inherits. */
enum {
    CHANNEL_FD = 3,
    SHARED_FD,
    FD_COUNT
};

void lw_workers_construct(struct lw_master *master)
{
    for (uint32_t i = 0; i < LW_WORKERS_MOST; i++) {
        struct lw_child *child = &master->children[i];
        *child = (struct lw_child){
            .master = master,
            .number = i,
            .channel = -1,
            .wake = -1,
            .take = -1,
            .give = -1,
        };
        child->slot = master->first_slot + i;
        master->board->slots[child->slot].given_count = 0; /* of an earlier master */
        uv_timer_init(&master->loop, &child->again);
        child->again.data = child;
    }
}

uint32_t lw_workers_in(const struct lw_master *master, enum lw_child_state state)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < master->worker_count; i++)
        count += master->children[i].state == state;
    return count;
}

static void on_again(uv_timer_t *timer)
{
    struct lw_child *child = timer->data;
    if (!lw_worker_start(child))
        lw_worker_start_later(child);
}

void lw_worker_start_later(struct lw_child *child)
{
    uint64_t wait_ms = child->back_off_ms;
    uint64_t next_ms = wait_ms ? wait_ms * 2 : BACK_OFF_FIRST_MS;
    child->back_off_ms = next_ms < BACK_OFF_MOST_MS ? next_ms : BACK_OFF_MOST_MS;
    uv_timer_start(&child->again, on_again, wait_ms, 0);
}

/* Says how a worker ended that nobody had told to. */
static void say_end(const struct lw_child *child, int code, int number)
{
    char how[64];
    char when[32] = "at once";
    const char *why = child->failure ? child->failure : "";
    if (number)
        snprintf(how, sizeof how, "was ended by signal %d (%s)", number,
                 strsignal(number));
    else
        snprintf(how, sizeof how, "ended with exit code %d", code);
    if (child->back_off_ms)
        snprintf(when, sizeof when, "in %g s", (double)child->back_off_ms / 1000);
    lw_log(LW_LOG_ERROR,
           "worker %u (pid %d) %s; it is started again %s; %u of %u serve%s%.800s",
           child->number + 1, child->process.pid, how, when,
           lw_workers_in(child->master, LW_CHILD_READY), child->master->worker_count,
           *why ? ": " : "", why);
}

static void close_child(struct lw_child *child)
{
    if (child->channel >= 0) {
        uv_close((uv_handle_t *)&child->heard, NULL);
        close(child->channel);
    }
    child->channel = -1;
    child->state = LW_CHILD_NONE;
    struct lw_slot *slot = &child->master->board->slots[child->slot];
    slot->state = LW_SLOT_EMPTY;
    slot->pid = 0;
    slot->conn_count = 0;
    slot->turn_began_ms = 0;
}

/* A worker has ended that should go on. */
static void replace(struct lw_child *child, int code, int number)
{
    struct lw_master *master = child->master;
    if (!master->has_served) { /* it has said why, if it could */
        if (number)
            lw_log(LW_LOG_ERROR, "the first worker was ended by signal %d (%s)", number,
                   strsignal(number));
        lw_stop_now(master, number ? 1 : code);
        return;
    }
    if (uv_now(&master->loop) - child->started_ms >= LIVED_MS)
        child->back_off_ms = 0;
    say_end(child, code, number);
    master->outside.restarts++;
    lw_metrics_count_of(child->slot, LW_METRIC_RESTARTS);
    lw_worker_start_later(child);
    lw_cover_settle(master);
    lw_messages_announce(master);
}

static void on_ended(uv_process_t *process, int64_t code, int number)
{
    struct lw_child *child = process->data;
    struct lw_master *master = child->master;
    bool was_told = child->state == LW_CHILD_ENDING && master->stop_count > 0;
    uv_close((uv_handle_t *)process, NULL);
    close_child(child);
    lw_cover_forget(child);
    if (was_told && code != 0 && master->exit_code == 0)
        master->exit_code = (int)code;
    if (master->stop_count > 0)
        lw_stop_check(master);
    else
        replace(child, (int)code, number);
    lw_reload_died(child, "ended");
    free(child->failure);
    child->failure = NULL;
}

/* The options of uv_spawn for a worker; `theirs` is its end of the channel. */
static int spawn(struct lw_child *child, int theirs)
{
    struct lw_master *master = child->master;
    char inherited[LW_INHERIT_ROOM];
    lw_inherit_write(inherited, &(struct lw_inherited){
                                    .slot = child->slot,
                                    .channel = CHANNEL_FD,
                                    .shared = SHARED_FD,
                                    .generation = child->generation,
                                    .is_first = !master->has_served,
                                });
    uv_stdio_container_t stdio[FD_COUNT] = {
        {.flags = UV_INHERIT_FD, .data.fd = 0             },
        {.flags = UV_INHERIT_FD, .data.fd = 1             },
        {.flags = UV_INHERIT_FD, .data.fd = 2             },
        {.flags = UV_INHERIT_FD, .data.fd = theirs        },
        {.flags = UV_INHERIT_FD, .data.fd = master->shared},
    };
    char **environment = lw_environment_with(LW_INHERIT_NAME, inherited);
    uv_process_options_t options = {
        .exit_cb = on_ended,
        .file = "/proc/self/exe",
        .args = master->argv,
        .env = environment,
        .stdio = stdio,
        .stdio_count = FD_COUNT,
    };
    if (master->options->pin_workers)
        lw_cores_pin(&master->cores[child->number % master->core_count], 1);
    int error = uv_spawn(&master->loop, &child->process, &options);
    if (master->options->pin_workers)
        lw_cores_pin(master->cores, master->core_count);
    lw_environment_free(environment);
    child->process.data = child;
    return error;
}

/* The machine lacks something: it is not tried again at once, and not while handles
 * still close. */
static bool give_up_start(struct lw_child *child, int error)
{
    lw_log(LW_LOG_ERROR, "can't start worker %u: %s", child->number + 1,
           uv_strerror(error));
    if (child->back_off_ms == 0)
        child->back_off_ms = BACK_OFF_FIRST_MS;
    return false;
}

bool lw_worker_start(struct lw_child *child)
{
    struct lw_master *master = child->master;
    int ends[2];
    child->generation = master->generation;
    child->started_ms = uv_now(&master->loop);
    int error = lw_channel_open(ends);
    if (error)
        return give_up_start(child, uv_translate_sys_error(-error));
    child->channel = ends[0];
    error = lw_messages_hear(child);
    if (error) {
        close(ends[0]);
        close(ends[1]);
        child->channel = -1;
        return give_up_start(child, error);
    }
    error = spawn(child, ends[1]);
    close(ends[1]);
    if (error) {
        uv_close((uv_handle_t *)&child->process, NULL);
        close_child(child);
        return give_up_start(child, error);
    }
    child->state = LW_CHILD_LOADING;
    child->is_late = false;
    child->neglects_from_ms = 0;
    child->stall = (struct lw_stall){.is_asked = false};
    lw_peers_introduce(child);
    return true;
}

void lw_worker_tell(struct lw_child *child, const struct lw_message *message,
                    const char *text, int fd)
{
    if (child->channel < 0)
        return;
    int error = lw_channel_send(child->channel, message, text, strlen(text), fd);
    if (error == 0 || error == -EPIPE || error == -ECONNRESET)
        return; /* its end is told elsewhere */
    lw_log(LW_LOG_ERROR, "worker %u (pid %d) can't be told anything: %s; it is killed",
           child->number + 1, child->process.pid, strerror(-error));
    lw_worker_kill(child);
}

void lw_worker_kill(struct lw_child *child)
{
    if (child->state != LW_CHILD_NONE)
        uv_process_kill(&child->process, SIGKILL);
}
