/* SPDX-License-Identifier: MIT
 *
 * What systemd hands to a service, and what it wants to hear from it: sockets that it
 * listens on for us (sd_listen_fds(3)), the state of the service (sd_notify(3)), and
 * signs of life (sd_watchdog_enabled(3)).  The protocols are a few variables and
 * datagrams; nothing happens where the variables are not set. */
#ifndef LW_PROCESS_SYSTEMD_H
#define LW_PROCESS_SYSTEMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define LW_SYSTEMD_FIRST_FD 3
#define LW_SYSTEMD_MOST     64  /* sockets that are taken */
#define LW_SYSTEMD_NAME     64  /* octets of a socket's name, with its NUL */
#define LW_SYSTEMD_ADDRESS  128 /* octets of an address, with its NUL */

/* A socket that was passed: it listens, does not block and is closed on exec. */
struct lw_systemd_socket {
    int fd;
    char name[LW_SYSTEMD_NAME];       /* FileDescriptorName=; empty: none */
    char address[LW_SYSTEMD_ADDRESS]; /* "127.0.0.1:80", "[::1]:80" or "unix:/path" */
};

/* Takes the sockets that were passed to this process, and forgets the variables, so
 * that no child takes them too.  Gives their number, 0: none were; or -1, and the
 * message for one that is no listening stream socket was printed (exit 3). */
int lw_systemd_take(struct lw_systemd_socket out[LW_SYSTEMD_MOST]);

/* Takes them from the last master, at a binary upgrade: the words
 * "listen.place.slot.fd" of LUAWEB_UPGRADE, one for each.  As lw_systemd_take. */
int lw_systemd_take_over(struct lw_systemd_socket out[LW_SYSTEMD_MOST],
                         const char *words);

struct lw_systemd {
    int fd; /* of the datagrams; -1: nobody wants to hear */
    char where[108];
    size_t where_size;
    uint64_t watchdog_us; /* within which a sign of life is wanted; 0: none */
    uv_timer_t timer;
    bool (*is_alive)(void *context);
    void *context;
};

/* Reads who wants to hear. */
void lw_systemd_open(struct lw_systemd *systemd);

/* From now on gives signs of life, twice within the time wanted, while
 * is_alive(context) holds: some worker is there, and its loop does not stand still. */
void lw_systemd_watch(struct lw_systemd *systemd, uv_loop_t *loop,
                      bool (*is_alive)(void *context), void *context);

/* It serves: at first, and after a reload that went well or not.  `status` is one line
 * for people. */
void lw_systemd_ready(struct lw_systemd *systemd, const char *status);
void lw_systemd_reloading(struct lw_systemd *systemd);
void lw_systemd_stopping(struct lw_systemd *systemd);

/* The service is that process from now on, after a binary upgrade. */
void lw_systemd_hand_over(struct lw_systemd *systemd, int pid);

/* Ends the signs of life. */
void lw_systemd_close(struct lw_systemd *systemd);

#endif
