/* SPDX-License-Identifier: MIT
 *
 * Telling systemd how the service is. */
#include "process/systemd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define TEXT_ROOM   1024   /* octets of a message */
#define PATIENCE_US 500000 /* with a queue that is full */

/* "/path", or "@name" in the abstract namespace, as an address. */
static bool address_of(const struct lw_systemd *systemd, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (systemd->where_size == 0 || systemd->where_size > sizeof address->sun_path)
        return false;
    memcpy(address->sun_path, systemd->where, systemd->where_size);
    if (address->sun_path[0] == '@')
        address->sun_path[0] = 0;
    return true;
}

static void open_notify(struct lw_systemd *systemd, const char *where)
{
    const struct timeval patience = {.tv_usec = PATIENCE_US};
    size_t size = where ? strlen(where) : 0;
    if (size == 0)
        return;
    if ((*where != '/' && *where != '@') || size < 2 || size > sizeof systemd->where) {
        lw_log(LW_LOG_WARN, "NOTIFY_SOCKET=%s: no address of a unix socket", where);
        return;
    }
    memcpy(systemd->where, where, size);
    systemd->where_size = size;
    systemd->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    setsockopt(systemd->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

/* The number of a variable; 0: it is not set, or no number. */
static uint64_t number_of(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return 0;
    uint64_t number = strtoull(text, &end, 10);
    return *end == 0 ? number : 0;
}

void lw_systemd_open(struct lw_systemd *systemd)
{
    *systemd = (struct lw_systemd){.fd = -1};
    open_notify(systemd, getenv("NOTIFY_SOCKET"));
    uint64_t pid = number_of("WATCHDOG_PID");
    if (pid == 0 || pid == (uint64_t)getpid())
        systemd->watchdog_us = number_of("WATCHDOG_USEC");
}

/* Sends lines "NAME=value".  A service must not hang on who watches it: the wait for
 * room in its queue is short, and a sign of life (MSG_DONTWAIT) is not worth any. */
static void notify(const struct lw_systemd *systemd, const char *text, int flags)
{
    struct sockaddr_un address;
    if (systemd->fd < 0 || !address_of(systemd, &address))
        return;
    socklen_t size =
        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + systemd->where_size);
    ssize_t sent = sendto(systemd->fd, text, strlen(text), MSG_NOSIGNAL | flags,
                          (const struct sockaddr *)&address, size);
    if (sent < 0)
        lw_log(LW_LOG_WARN, "NOTIFY_SOCKET %.*s: %s", (int)systemd->where_size,
               systemd->where, strerror(errno));
}

static void on_time(uv_timer_t *timer)
{
    struct lw_systemd *systemd = timer->data;
    if (systemd->is_alive(systemd->context))
        notify(systemd, "WATCHDOG=1", MSG_DONTWAIT);
}

void lw_systemd_watch(struct lw_systemd *systemd, uv_loop_t *loop,
                      bool (*is_alive)(void *context), void *context)
{
    systemd->is_alive = is_alive;
    systemd->context = context;
    if (systemd->fd < 0 || systemd->watchdog_us == 0)
        return;
    uint64_t half_ms = systemd->watchdog_us / 2000;
    uv_timer_init(loop, &systemd->timer);
    systemd->timer.data = systemd;
    uv_timer_start(&systemd->timer, on_time, 0, half_ms > 0 ? half_ms : 1);
    uv_unref((uv_handle_t *)&systemd->timer);
}

void lw_systemd_ready(struct lw_systemd *systemd, const char *status)
{
    char text[TEXT_ROOM];
    snprintf(text, sizeof text, "READY=1\nSTATUS=%.512s", status);
    for (char *c = text + sizeof "READY=1\nSTATUS="; *c; c++)
        if (*c == '\n')
            *c = ' ';
    notify(systemd, text, 0);
}

void lw_systemd_reloading(struct lw_systemd *systemd)
{
    char text[TEXT_ROOM];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(text, sizeof text,
             "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\nSTATUS=Loading the app anew",
             (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
    notify(systemd, text, 0);
}

void lw_systemd_stopping(struct lw_systemd *systemd)
{
    notify(systemd, "STOPPING=1\nSTATUS=Letting the last requests end", 0);
}

void lw_systemd_hand_over(struct lw_systemd *systemd, int pid)
{
    char text[TEXT_ROOM];
    snprintf(text, sizeof text, "MAINPID=%d", pid);
    notify(systemd, text, 0);
}

void lw_systemd_close(struct lw_systemd *systemd)
{
    if (systemd->timer.data)
        uv_close((uv_handle_t *)&systemd->timer, NULL);
    systemd->timer.data = NULL;
    if (systemd->fd >= 0)
        close(systemd->fd);
    systemd->fd = -1;
}
