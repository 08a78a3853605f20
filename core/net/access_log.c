/* SPDX-License-Identifier: MIT
 *
 * Two buffers: one is filled while the other is written.  What can't be written now is
 * tried again: lines are dropped only where they find no room in the buffer, and one
 * that was begun is ended. */
#include "net/access_log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "base/log.h"
#include "base/require.h"
#include "net/loop.h"
#include "share/metrics.h"

#define ROOM    1048576 /* octets of each buffer */
#define EAGER   65536   /* octets, from which they are written at once */
#define LAZY_MS 200     /* after which fewer are written, too */
#define SOON_MS 5       /* until what is stuck is tried again, at first */
#define PIECE   4096    /* octets that a pipe takes whole or not at all (PIPE_BUF) */
#define SAY_MS  10000   /* between two words on the same trouble */
#define LAST_MS 1000    /* that the end of the process waits for a slow reader */

struct lw_access_log {
    uv_loop_t *uv;
    uv_timer_t timer;
    uv_fs_t write;
    enum lw_access_format format;
    char *path; /* owned; NULL: the standard output */
    int fd;
    bool is_file;  /* always takes octets; a pipe, terminal or socket does not */
    char *filling; /* owned, ROOM octets */
    char *writing; /* owned, ROOM octets */
    size_t filled;
    size_t left; /* of what is written */
    size_t written;
    uint64_t dropped; /* lines, since this was last said */
    uint64_t dropped_again_ms;
    uint64_t error_again_ms;
    uint64_t retry_ms; /* until what is stuck is tried again */
    bool is_busy;      /* a write is under way */
    bool is_stuck;     /* the last one got nowhere */
    bool wants_reopen;
};

static const struct {
    const char *prefix;
    enum lw_access_format format;
} prefixes[] = {
    {"combined:", LW_ACCESS_COMBINED},
    {"json:",     LW_ACCESS_JSON    },
    {"terminal:", LW_ACCESS_TERMINAL},
};

#define PREFIXES (sizeof prefixes / sizeof *prefixes)

static bool has_prefix(const char *where, size_t i)
{
    return strncmp(where, prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0;
}

const char *lw_access_log_path(const char *where)
{
    for (size_t i = 0; i < PREFIXES; i++)
        if (has_prefix(where, i))
            return where + strlen(prefixes[i].prefix);
    return where;
}

static enum lw_access_format format_of(const char *where)
{
    for (size_t i = 0; i < PREFIXES; i++)
        if (has_prefix(where, i))
            return prefixes[i].format;
    return LW_ACCESS_COMBINED;
}

/* Not blocking: neither opening a FIFO that nobody reads, nor writing to one. */
static int open_path(const char *path)
{
    int fd = open(
        path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
    return fd < 0 ? uv_translate_sys_error(errno) : fd;
}

static const char *reason_of(int error)
{
    return error == UV_ENXIO ? "nobody reads this FIFO" : uv_strerror(error);
}

static void set_fd(struct lw_access_log *log, int fd)
{
    struct stat info;
    log->fd = fd;
    log->is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

/* See no-color.org. */
static bool wants_colours(int fd)
{
    const char *no_colour = getenv("NO_COLOR");
    return isatty(fd) && (!no_colour || !*no_colour);
}

struct lw_access_log *lw_access_log_open(struct lw_loop *loop, const char *where,
                                         const char **why)
{
    const char *path = lw_access_log_path(where);
    bool is_output = strcmp(path, "-") == 0;
    int fd = is_output ? STDOUT_FILENO : open_path(path);
    if (fd < 0) {
        *why = reason_of(fd);
        return NULL;
    }
    struct lw_access_log *log = lw_alloc(sizeof *log);
    *log = (struct lw_access_log){
        .uv = &loop->uv,
        .format = format_of(where),
        .filling = lw_alloc(ROOM),
        .writing = lw_alloc(ROOM),
        .retry_ms = SOON_MS,
    };
    set_fd(log, fd);
    if (log->format == LW_ACCESS_TERMINAL && wants_colours(fd))
        log->format = LW_ACCESS_COLOURED;
    if (!is_output) {
        log->path = lw_alloc(strlen(path) + 1);
        memcpy(log->path, path, strlen(path) + 1);
    }
    uv_timer_init(log->uv, &log->timer);
    log->timer.data = log->write.data = log;
    return log;
}

/* Leaves out the rest of a line of which a part is in the old file. */
static void skip_torn(struct lw_access_log *log)
{
    if (log->left == 0 || log->written == 0 || log->writing[log->written - 1] == '\n')
        return;
    const char *from = log->writing + log->written;
    const char *end = memchr(from, '\n', log->left);
    size_t size = (size_t)(end - from) + 1;
    log->written += size;
    log->left -= size;
    log->dropped++;
}

static void reopen(struct lw_access_log *log)
{
    log->wants_reopen = false;
    if (!log->path)
        return;
    int fd = open_path(log->path);
    if (fd < 0) {
        lw_log(LW_LOG_ERROR, "access log: can't reopen %s: %s", log->path,
               reason_of(fd));
        return;
    }
    close(log->fd);
    set_fd(log, fd);
    skip_torn(log);
}

/* Whether it is time to say something again. */
static bool is_due(const struct lw_access_log *log, uint64_t *again_ms)
{
    uint64_t now = uv_now(log->uv);
    if (now < *again_ms)
        return false;
    *again_ms = now + SAY_MS;
    return true;
}

static void say_dropped(struct lw_access_log *log)
{
    lw_log(LW_LOG_WARN, "access log: %llu lines were dropped",
           (unsigned long long)log->dropped);
    log->dropped = 0;
}

static void write_on(struct lw_access_log *log);

static void on_timer(uv_timer_t *timer)
{
    struct lw_access_log *log = timer->data;
    if (!log->is_busy)
        write_on(log);
}

static void come_back(struct lw_access_log *log, uint64_t ms)
{
    if (!uv_is_active((uv_handle_t *)&log->timer)
        || uv_timer_get_due_in(&log->timer) > ms)
        uv_timer_start(&log->timer, on_timer, ms, 0);
}

/* Nothing can be written now: again soon, then less and less often. */
static void get_stuck(struct lw_access_log *log)
{
    log->is_stuck = true;
    come_back(log, log->retry_ms);
    log->retry_ms = log->retry_ms < LAZY_MS / 2 ? log->retry_ms * 2 : LAZY_MS;
}

static void on_written(uv_fs_t *request)
{
    struct lw_access_log *log = request->data;
    ssize_t n = request->result;
    uv_fs_req_cleanup(request);
    log->is_busy = false;
    if (n > 0) {
        log->is_stuck = false;
        log->retry_ms = SOON_MS;
        log->written += (size_t)n;
        log->left -= (size_t)n;
        write_on(log);
        return;
    }
    if (n != UV_EAGAIN && is_due(log, &log->error_again_ms))
        lw_log(LW_LOG_ERROR, "access log: %s", uv_strerror((int)n));
    get_stuck(log);
}

/* Changes over to the other buffer. */
static void turn_over(struct lw_access_log *log)
{
    char *filled = log->filling;
    log->filling = log->writing;
    log->writing = filled;
    log->left = log->filled;
    log->written = log->filled = 0;
}

/* How many octets to write at once: a file takes all, anything else whole lines as far
 * as they fit a piece, so that nobody else's octets get into them. */
static size_t size_of_piece(const struct lw_access_log *log)
{
    if (log->is_file || log->left <= PIECE)
        return log->left;
    const char *from = log->writing + log->written;
    const char *end = memrchr(from, '\n', PIECE);
    return end ? (size_t)(end - from) + 1 : PIECE;
}

/* Whether a write would not hold up its thread. */
static bool is_ready(const struct lw_access_log *log)
{
    struct pollfd wanted = {.fd = log->fd, .events = POLLOUT};
    return log->is_file || poll(&wanted, 1, 0) != 0;
}

static void write_on(struct lw_access_log *log)
{
    if (log->wants_reopen && (log->left == 0 || log->is_stuck))
        reopen(log);
    if (log->dropped > 0 && is_due(log, &log->dropped_again_ms))
        say_dropped(log);
    if (log->left == 0)
        turn_over(log);
    if (log->left == 0) {
        if (log->dropped > 0)
            come_back(log, SAY_MS);
        return;
    }
    if (!is_ready(log)) {
        get_stuck(log);
        return;
    }
    uv_buf_t buffer =
        uv_buf_init(log->writing + log->written, (unsigned)size_of_piece(log));
    log->is_busy = true;
    sigset_t before;
    lw_work_shield(&before);
    uv_fs_write(log->uv, &log->write, log->fd, &buffer, 1, -1, on_written);
    lw_work_unshield(&before);
}

void lw_access_log_add(struct lw_access_log *log, const struct lw_access *access)
{
    if (lw_access_bound(access) > ROOM - log->filled) {
        log->dropped++;
        lw_metrics_add(lw_metrics_own(), LW_METRIC_LOG_DROPPED, 1);
        return;
    }
    log->filled += lw_access_write(access, log->format, log->filling + log->filled);
    if (log->left > 0)
        return;
    bool is_for_eyes = log->format >= LW_ACCESS_TERMINAL;
    if (log->filled >= EAGER || is_for_eyes)
        write_on(log);
    else
        come_back(log, LAZY_MS);
}

void lw_access_log_reopen(struct lw_access_log *log)
{
    /* What was collected so far belongs to the old file. */
    if (log->left == 0)
        write_on(log);
    log->wants_reopen = true;
    if (!log->is_busy)
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

static uint64_t count_lines(const char *text, size_t size)
{
    uint64_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n';
    return count;
}

void lw_access_log_close(struct lw_access_log *log)
{
    uint64_t latest_ns = uv_hrtime() + LAST_MS * (uint64_t)1000000;
    log->wants_reopen = false;
    if (log->left == 0)
        write_on(log);
    while (log->is_busy || (log->left > 0 && uv_hrtime() < latest_ns))
        uv_run(log->uv, UV_RUN_ONCE);
    log->dropped += count_lines(log->writing + log->written, log->left)
                    + count_lines(log->filling, log->filled);
    if (log->dropped > 0)
        say_dropped(log);
    uv_close((uv_handle_t *)&log->timer, on_closed);
}
