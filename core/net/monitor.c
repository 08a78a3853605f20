/* SPDX-License-Identifier: MIT
 *
 * A responder for one request a connection (RFC 9112 §9.6): read the head, write the
 * answer, end our sending, and swallow until the client ends its own or time is up. */
#include "net/monitor.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/date.h"
#include "base/require.h"
#include "base/slice.h"
#include "base/status.h"
#include "http/head.h"
#include "http/reply.h"
#include "net/transport.h"
#include "share/health.h"
#include "share/metrics_text.h"

#define HEAD_FIELDS 64
#define AGAIN_MS    100

struct lw_monitor {
    uv_poll_t poll;
    uv_timer_t again; /* no descriptor was left: tried again */
    uv_loop_t *loop;
    int fd;
    uint32_t count;  /* of visits that are not freed yet */
    bool is_closed;  /* the poll is, or will be */
    uint32_t closed; /* of its two handles */
    struct visit *visits;
    struct lw_blocks blocks;
};

struct visit {
    struct lw_transport transport; /* first: its callbacks find us by it */
    struct lw_monitor *monitor;
    uv_timer_t late;
    struct visit *next;
    struct visit *prev;
    struct lw_buffer out;
    struct lw_scan scan;
    size_t size; /* octets of `in` */
    bool is_answered;
    bool is_finished; /* our sending is ended */
    bool is_closing;
    uint32_t closed; /* of its two handles */
    char in[LW_MONITOR_HEAD];
};

static void free_when_gone(struct lw_monitor *monitor)
{
    if (monitor->closed < 2 || monitor->count > 0)
        return;
    lw_blocks_destruct(&monitor->blocks);
    free(monitor);
}

/* Both handles are closed. */
static void count_closed(struct visit *visit)
{
    struct lw_monitor *monitor = visit->monitor;
    if (++visit->closed < 2)
        return;
    free(visit);
    monitor->count--;
    free_when_gone(monitor);
}

static void on_transport_closed(struct lw_transport *transport)
{
    count_closed((struct visit *)transport);
}

static void on_timer_closed(uv_handle_t *handle)
{
    count_closed(handle->data);
}

static void close_visit(struct visit *visit)
{
    if (visit->is_closing)
        return;
    visit->is_closing = true;
    if (visit->prev)
        visit->prev->next = visit->next;
    else
        visit->monitor->visits = visit->next;
    if (visit->next)
        visit->next->prev = visit->prev;
    lw_buffer_release(&visit->out, &visit->monitor->blocks);
    uv_close((uv_handle_t *)&visit->late, on_timer_closed);
    lw_transport_close(&visit->transport, false, on_transport_closed);
}

static void on_late(uv_timer_t *timer)
{
    close_visit(timer->data);
}

/* Answers ----------------------------------------------------------------------------*/

struct answer {
    int status;
    const char *type;
    const char *fields; /* lines */
    struct lw_page page;
};

static void write_answer(struct visit *visit, const struct answer *answer,
                         struct luaweb_slice method)
{
    struct lw_blocks *blocks = &visit->monitor->blocks;
    char date[29];
    lw_date_format(time(NULL), date);
    struct lw_reply reply = {
        .status = answer->status,
        .framing = LW_REPLY_LENGTH,
        .length = answer->page.size,
        .close = true,
        .type = lw_slice(answer->type, strlen(answer->type)),
        .fields = lw_slice(answer->fields, strlen(answer->fields)),
        .date = date,
    };
    lw_reply_head(&visit->out, blocks, &reply);
    if (lw_reply_has_content(method, answer->status))
        lw_buffer_append(&visit->out, blocks, answer->page.data, answer->page.size);
    visit->is_answered = true;
}

static void answer_metrics(struct answer *answer)
{
    answer->type = LW_METRICS_TYPE;
    lw_metrics_write(&answer->page);
}

static void answer_health(struct answer *answer)
{
    struct lw_health health;
    lw_health_look(&health);
    answer->type = LW_HEALTH_TYPE;
    answer->status = health.is_ready ? 200 : 503;
    lw_health_write(&answer->page, &health);
}

static void answer_plainly(struct answer *answer, int status, const char *why)
{
    answer->status = status;
    answer->type = "text/plain; charset=utf-8";
    lw_page_add(&answer->page, "%d %s: %s\n", status, lw_status_reason(status), why);
}

static const struct {
    const char *path;
    void (*answer)(struct answer *answer);
} pages[] = {
    {"/metrics", answer_metrics},
    {"/health",  answer_health },
};

static void answer_head(struct answer *answer, const struct lw_head *head)
{
    struct luaweb_slice path = head->parts.path;
    bool is_read = lw_slice_equal(head->method, LW_SLICE("GET"))
                   || lw_slice_equal(head->method, LW_SLICE("HEAD"));
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        if (!lw_slice_equal(path, lw_slice(pages[i].path, strlen(pages[i].path))))
            continue;
        if (is_read) {
            answer->fields = "Cache-Control: no-store\r\n";
            pages[i].answer(answer);
            return;
        }
        answer->fields = "Allow: GET, HEAD\r\n";
        answer_plainly(answer, 405, "this is only read");
        return;
    }
    answer_plainly(answer, 404, "there are /metrics and /health");
}

/* Reads the head as far as it is here; true: there is an answer. */
static bool serve(struct visit *visit)
{
    const struct lw_head_limits limits = {1024, LW_MONITOR_HEAD - 2048, HEAD_FIELDS};
    struct luaweb_field fields[HEAD_FIELDS];
    struct lw_head head = {.fields = fields, .field_capacity = HEAD_FIELDS};
    struct answer answer = {.status = 200, .fields = ""};
    const char *why;
    size_t size;
    size_t skipped = visit->scan.lines ? 0 : lw_head_skip(visit->in, visit->size);
    memmove(visit->in, visit->in + skipped, visit->size -= skipped);
    if (visit->size == 0)
        return false;
    int status = lw_head_scan(&visit->scan, lw_slice(visit->in, visit->size), &limits,
                              NULL, &size, &why);
    if (status == 1 && visit->size < sizeof visit->in)
        return false;
    if (status == 1) {
        status = 431;
        why = "the head is too long";
    }
    if (status == 0)
        status = lw_head_parse(&visit->scan, visit->in, size, &head, &why);
    if (status)
        answer_plainly(&answer, status, why);
    else
        answer_head(&answer, &head);
    write_answer(visit, &answer, status ? LW_SLICE("GET") : head.method);
    lw_page_free(&answer.page);
    return true;
}

/* The way of octets ------------------------------------------------------------------*/

/* false: the visit is closed. */
static bool send_out(struct visit *visit)
{
    struct lw_buffer *out = &visit->out;
    while (lw_buffer_size(out) > 0) {
        ssize_t n = lw_transport_send(&visit->transport, out->data + out->start,
                                      lw_buffer_size(out));
        if (n == UV_EAGAIN)
            return true;
        if (n < 0) {
            close_visit(visit);
            return false;
        }
        lw_buffer_consume(out, (size_t)n);
    }
    lw_buffer_release(out, &visit->monitor->blocks);
    if (visit->is_answered && !visit->is_finished)
        lw_transport_finish(&visit->transport);
    visit->is_finished = visit->is_answered;
    return true;
}

/* Reads once; what follows the first request is swallowed.  false: the visit is
 * closed. */
static bool receive(struct visit *visit)
{
    char rest[4096];
    char *to = visit->is_answered ? rest : visit->in + visit->size;
    size_t room = visit->is_answered ? sizeof rest : sizeof visit->in - visit->size;
    ssize_t n = lw_transport_receive(&visit->transport, to, room);
    if (n == UV_EAGAIN)
        return true;
    if (n <= 0) {
        close_visit(visit);
        return false;
    }
    if (visit->is_answered)
        return true;
    visit->size += (size_t)n;
    serve(visit);
    return true;
}

static void on_visit(struct lw_transport *transport, int status, int events)
{
    struct visit *visit = (struct visit *)transport;
    if (visit->is_closing)
        return;
    if (status < 0) {
        close_visit(visit);
        return;
    }
    if (events & UV_READABLE && !receive(visit))
        return;
    if (send_out(visit))
        lw_transport_want(transport, true, lw_buffer_size(&visit->out) > 0, false);
}

/* Who scrapes takes milliseconds: the oldest of so many visits only holds a place. */
static void close_oldest(struct lw_monitor *monitor)
{
    struct visit *oldest = monitor->visits;
    while (oldest && oldest->next)
        oldest = oldest->next;
    if (oldest)
        close_visit(oldest);
}

static void begin_visit(struct lw_monitor *monitor, int fd)
{
    if (monitor->count >= LW_MONITOR_MOST)
        close_oldest(monitor);
    struct visit *visit = lw_alloc(sizeof *visit);
    memset(visit, 0, offsetof(struct visit, in));
    if (lw_transport_open(&visit->transport, monitor->loop, fd, on_visit) != 0) {
        free(visit);
        return;
    }
    visit->monitor = monitor;
    visit->next = monitor->visits;
    if (visit->next)
        visit->next->prev = visit;
    monitor->visits = visit;
    monitor->count++;
    uv_timer_init(monitor->loop, &visit->late);
    visit->late.data = visit;
    uv_timer_start(&visit->late, on_late, LW_MONITOR_MS, 0);
    lw_transport_want(&visit->transport, true, false, false);
}

static void on_waiting(uv_poll_t *poll, int status, int events);

static void on_again(uv_timer_t *timer)
{
    struct lw_monitor *monitor = timer->data;
    uv_poll_start(&monitor->poll, UV_READABLE, on_waiting);
}

static void on_waiting(uv_poll_t *poll, int status, int events)
{
    struct lw_monitor *monitor = poll->data;
    (void)status;
    (void)events;
    int fd = accept4(monitor->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        begin_visit(monitor, fd);
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        uv_poll_stop(poll);
        uv_timer_start(&monitor->again, on_again, AGAIN_MS, 0);
    }
}

struct lw_monitor *lw_monitor_open(uv_loop_t *loop, int fd, int *error)
{
    struct lw_monitor *monitor = lw_alloc(sizeof *monitor);
    *monitor = (struct lw_monitor){.loop = loop, .fd = fd};
    *error = uv_poll_init_socket(loop, &monitor->poll, fd);
    if (*error) {
        close(fd);
        free(monitor);
        return NULL;
    }
    uv_timer_init(loop, &monitor->again);
    monitor->poll.data = monitor->again.data = monitor;
    lw_blocks_construct(&monitor->blocks, LW_MONITOR_MOST);
    uv_poll_start(&monitor->poll, UV_READABLE, on_waiting);
    return monitor;
}

int lw_monitor_fd(const struct lw_monitor *monitor)
{
    return monitor->fd;
}

static void on_closed(uv_handle_t *handle)
{
    struct lw_monitor *monitor = handle->data;
    monitor->closed++;
    free_when_gone(monitor);
}

void lw_monitor_close(struct lw_monitor *monitor)
{
    if (monitor->is_closed)
        return;
    monitor->is_closed = true;
    while (monitor->visits)
        close_visit(monitor->visits);
    uv_close((uv_handle_t *)&monitor->poll, on_closed);
    uv_close((uv_handle_t *)&monitor->again, on_closed);
    close(monitor->fd);
}
