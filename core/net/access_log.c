/* SPDX-License-Identifier: MIT
 *
 * Two buffers: one is filled while the other is written. */
#include "net/access_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/log.h"
#include "base/require.h"
#include "net/loop.h"

#define ROOM    1048576 /* octets of each buffer */
#define EAGER   65536   /* octets, from which they are written at once */
#define LAZY_MS 200     /* after which fewer are written, too */

struct lw_access_log {
    uv_loop_t *uv;
    uv_timer_t timer;
    uv_fs_t write;
    enum lw_access_format format;
    char *path; /* owned; NULL: the standard output */
    int fd;
    char *filling; /* owned, ROOM octets */
    char *writing; /* owned, ROOM octets */
    size_t filled;
    size_t left; /* of what is written */
    size_t written;
    uint64_t dropped; /* lines, since this was last said */
    bool wants_reopen;
    bool is_failing;
};

static int open_path(const char *path)
{
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
}

static const char *skip_prefix(const char *text, const char *prefix)
{
    size_t size = strlen(prefix);
    return strncmp(text, prefix, size) == 0 ? text + size : NULL;
}

struct lw_access_log *lw_access_log_open(struct lw_loop *loop, const char *where,
                                         const char **why)
{
    const char *json = skip_prefix(where, "json:");
    const char *combined = skip_prefix(where, "combined:");
    const char *path = json ? json : combined ? combined : where;
    bool is_output = strcmp(path, "-") == 0;
    int fd = is_output ? STDOUT_FILENO : open_path(path);
    if (fd < 0) {
        *why = uv_strerror(uv_translate_sys_error(errno));
        return NULL;
    }
    struct lw_access_log *log = lw_alloc(sizeof *log);
    *log = (struct lw_access_log){
        .uv = &loop->uv,
        .format = json ? LW_ACCESS_JSON : LW_ACCESS_COMBINED,
        .fd = fd,
        .filling = lw_alloc(ROOM),
        .writing = lw_alloc(ROOM),
    };
    if (!is_output) {
        log->path = lw_alloc(strlen(path) + 1);
        memcpy(log->path, path, strlen(path) + 1);
    }
    uv_timer_init(log->uv, &log->timer);
    log->timer.data = log->write.data = log;
    return log;
}

static void reopen(struct lw_access_log *log)
{
    log->wants_reopen = false;
    if (!log->path)
        return;
    int fd = open_path(log->path);
    if (fd < 0) {
        lw_log(LW_LOG_ERROR, "access log: can't reopen %s: %s", log->path,
               uv_strerror(uv_translate_sys_error(errno)));
        return;
    }
    close(log->fd);
    log->fd = fd;
}

static void say_dropped(struct lw_access_log *log)
{
    if (log->dropped > 0)
        lw_log(LW_LOG_WARN, "access log: %llu lines were dropped",
               (unsigned long long)log->dropped);
    log->dropped = 0;
}

static void write_on(struct lw_access_log *log);

static void on_written(uv_fs_t *request)
{
    struct lw_access_log *log = request->data;
    ssize_t n = request->result;
    uv_fs_req_cleanup(request);
    request->data = log;
    if (n < 0 && !log->is_failing)
        lw_log(LW_LOG_ERROR, "access log: %s", uv_strerror((int)n));
    log->is_failing = n < 0;
    if (n < 0)
        n = (ssize_t)log->left;
    log->written += (size_t)n;
    log->left -= (size_t)n;
    write_on(log);
}

/* Writes what is left of the one buffer, else changes over to the other. */
static void write_on(struct lw_access_log *log)
{
    if (log->left == 0) {
        say_dropped(log);
        if (log->wants_reopen)
            reopen(log);
        if (log->filled > 0) {
            char *filled = log->filling;
            log->filling = log->writing;
            log->writing = filled;
            log->left = log->filled;
            log->written = log->filled = 0;
        }
    }
    if (log->left == 0)
        return;
    uv_buf_t buffer = uv_buf_init(log->writing + log->written, (unsigned)log->left);
    uv_fs_write(log->uv, &log->write, log->fd, &buffer, 1, -1, on_written);
}

static void on_timer(uv_timer_t *timer)
{
    struct lw_access_log *log = timer->data;
    if (log->left == 0)
        write_on(log);
}

void lw_access_log_add(struct lw_access_log *log, const struct lw_access *access)
{
    if (lw_access_bound(access) > ROOM - log->filled) {
        log->dropped++;
        return;
    }
    log->filled += lw_access_write(access, log->format, log->filling + log->filled);
    if (log->left > 0)
        return;
    if (log->filled >= EAGER)
        write_on(log);
    else if (!uv_is_active((uv_handle_t *)&log->timer))
        uv_timer_start(&log->timer, on_timer, LAZY_MS, 0);
}

void lw_access_log_reopen(struct lw_access_log *log)
{
    /* What was collected so far belongs to the old file. */
    if (log->left == 0 && log->filled > 0)
        write_on(log);
    log->wants_reopen = true;
    if (log->left == 0)
        write_on(log);
}

static void on_closed(uv_handle_t *handle)
{
    struct lw_access_log *log = handle->data;
    if (log->path)
        close(log->fd);
    free(log->path);
    free(log->filling);
    free(log->writing);
    free(log);
}

void lw_access_log_close(struct lw_access_log *log)
{
    log->wants_reopen = false;
    for (int i = 0; i < 2; i++) {
        while (log->left > 0)
            uv_run(log->uv, UV_RUN_ONCE);
        write_on(log);
    }
    while (log->left > 0)
        uv_run(log->uv, UV_RUN_ONCE);
    say_dropped(log);
    uv_close((uv_handle_t *)&log->timer, on_closed);
}
