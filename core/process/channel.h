/* SPDX-License-Identifier: MIT
 *
 * What master and worker say to each other: messages over a pair of unix sockets that
 * keep their borders (SOCK_SEQPACKET), at most one descriptor with each. */
#ifndef LW_PROCESS_CHANNEL_H
#define LW_PROCESS_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LW_SHARED_SLOT  UINT32_MAX /* of a socket that all workers accept from */
#define LW_MESSAGE_TEXT 61440      /* octets at most; longer texts are cut */

enum lw_message_kind {
    /* To a worker. */
    LW_MESSAGE_ACCEPT,  /* `listener`, `slot`, fd; or LW_LISTENER_GIVEN and its fd */
    LW_MESSAGE_CEASE,   /* `listener`, `slot`: no longer; the descriptor is closed */
    LW_MESSAGE_PEER,    /* `slot`, fd: the eventfd that wakes that slot's worker */
    LW_MESSAGE_GIVE,    /* `slot`, fd: by which connections are given to its worker */
    LW_MESSAGE_LOAD,    /* `generation`: loads it beside the one that serves */
    LW_MESSAGE_SWITCH,  /* `generation`, which is loaded: serves with it */
    LW_MESSAGE_DISCARD, /* `generation`: forgets what is loaded or loading */
    LW_MESSAGE_DRAIN,   /* `grace_ms` for idle connections, `deadline_ms` for all */
    LW_MESSAGE_REOPEN,  /* the logs */
    LW_MESSAGE_QUIT,    /* at once */
    /* To the master. */
    LW_MESSAGE_LOADED, /* `generation`; `workers`: how many the app wants, 0: any; text:
                            its routes, as people read them */
    LW_MESSAGE_FAILED, /* `generation`, `code`: exit code; text: why, file and line */
    LW_MESSAGE_SWITCHED, /* `generation` */
    LW_MESSAGE_RETIRED, /* `generation`: its last request has ended, its memory is back */
    LW_MESSAGE_RELOAD, /* a reload is wished for; text: why, for the log */
    /* From a new master to the old one, at a binary upgrade. */
    LW_MESSAGE_MOVED,     /* `code`: the pid that it has now */
    LW_MESSAGE_TAKEN_OVER /* its workers serve */
};

struct lw_message {
    uint32_t kind; /* enum lw_message_kind */
    uint32_t generation;
    uint32_t listener;
    uint32_t slot;
    uint32_t workers;
    int32_t code;
    uint64_t grace_ms;
    uint64_t deadline_ms;
};

/* Whether a descriptor that an environment names may be the end of one. */
bool lw_channel_is(int fd);

/* Both ends of a new channel, not blocking, closed on exec.  0 or a negative errno. */
int lw_channel_open(int ends[2]);

/* Sends a message with text[0..size) and, where fd >= 0, a descriptor, which stays the
 * caller's.  0, or a negative errno: -EAGAIN when the other side does not read. */
int lw_channel_send(int end, const struct lw_message *message, const char *text,
                    size_t size, int fd);

/* Receives one into `text` (room for LW_MESSAGE_TEXT + 1, NUL added).  *fd is -1 or a
 * descriptor, closed on exec, that is the caller's from now on.  1: there was one; 0: the
 * other side is gone; -EAGAIN: none yet; else a negative errno. */
int lw_channel_receive(int end, struct lw_message *message, char *text, int *fd);

#endif
