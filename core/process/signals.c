/* SPDX-License-Identifier: MIT
 *
 * Stop signals come through a handler of ours and not libuv's: a loop that Lua holds up
 * must not keep a second one from ending the process. */
#include "process/signals.h"

#include <signal.h>
#include <unistd.h>
#include <uv.h>

#include "process/worker.h"

#define ALARM_SECONDS 1 /* which the loop has to act on a signal that ends at once */

/* What a signal handler may touch. */
static struct {
    uv_async_t async;
    volatile sig_atomic_t number; /* of the last signal */
    volatile sig_atomic_t count;
    volatile sig_atomic_t is_seen; /* the loop has acted on the first one */
    volatile sig_atomic_t code;    /* where the first one ends at once: to exit with */
} stop_signal;

static int exit_code_of(int number)
{
    if (stop_signal.code)
        return stop_signal.code;
    return number == SIGINT ? 130 : 0;
}

/* A loop that Lua holds up would never see a second signal: then there is nothing to
 * wait for.  Where the first one was seen, that is known only after a while. */
static void on_stop_signal(int number)
{
    stop_signal.number = number;
    if (++stop_signal.count > 1 && !stop_signal.is_seen)
        _exit(exit_code_of(number));
    if (stop_signal.count == 2 || stop_signal.code)
        alarm(ALARM_SECONDS);
    uv_async_send(&stop_signal.async);
}

static void on_alarm(int number)
{
    (void)number;
    _exit(exit_code_of(stop_signal.number));
}

/* Who signals every process of a server, as pkill does, has signalled the master too:
 * what it made of that may be here first, and is not to be taken for another signal. */
static void on_stop(uv_async_t *async)
{
    struct lw_worker *worker = async->data;
    if (stop_signal.count == 0)
        return;
    stop_signal.is_seen = 1;
    bool is_told = lw_worker_has_master(worker) && worker->loop.is_draining;
    if (!is_told || stop_signal.count > 1)
        lw_worker_stop(worker, exit_code_of(stop_signal.number));
}

/* In place of SIG_IGN, which the programs that an app starts would inherit. */
static void on_ignored(int number)
{
    (void)number;
}

static void on_reopen(uv_signal_t *handle, int number)
{
    (void)number;
    lw_worker_reopen(handle->data);
}

static void watch(struct lw_worker *worker, uv_signal_t *handle, uv_signal_cb tell,
                  int number)
{
    uv_signal_init(&worker->loop.uv, handle);
    handle->data = worker;
    uv_signal_start(handle, tell, number);
}

void lw_signals_watch(struct lw_worker *worker)
{
    struct sigaction action = {.sa_handler = on_stop_signal, .sa_flags = SA_RESTART};
    struct sigaction ignore = {.sa_handler = on_ignored, .sa_flags = SA_RESTART};
    bool has_master = lw_worker_has_master(worker);
    uv_async_init(&worker->loop.uv, &stop_signal.async, on_stop);
    stop_signal.async.data = worker;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, has_master ? &ignore : &action, NULL);
    signal(SIGALRM, on_alarm);
    watch(worker, &worker->reopen, on_reopen, SIGUSR1);
    if (has_master) { /* the master's to act upon */
        sigaction(SIGHUP, &ignore, NULL);
        sigaction(SIGUSR2, &ignore, NULL);
        sigaction(SIGQUIT, &ignore, NULL);
    }
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* a full log is an error, not the end */
}

void lw_signals_end_at_once(int code)
{
    stop_signal.code = code;
}

void lw_signals_forget(void)
{
    alarm(0);
    signal(SIGTERM, SIG_DFL); /* the loop can't be told any more */
    signal(SIGINT, SIG_DFL);
}
