/* SPDX-License-Identifier: MIT
 *
 * The client's side of the control socket. */
#include "process/remote.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/require.h"
#include "process/control.h"
#include "process/options.h"
#include "process/remote_find.h"

#define USUAL_SECONDS 90 /* that we wait for an end, where --timeout does not say */
#define LOOK_SECONDS  10 /* and for a status */
/* Escapes take four octets. */
#define ANSWER_MOST   ((size_t)4 * LW_CONTROL_TEXT + 4096)

enum {
    FAILED = 1,
    WRONG_USAGE = 2,
    NO_ANSWER = 5
};

struct session {
    int fd;
    int process;   /* a descriptor of the server's process; -1: there is none */
    pid_t pid;     /* 0: unknown */
    int64_t until; /* milliseconds of CLOCK_MONOTONIC; < 0: no limit */
    double seconds;
    char *answer; /* owned, with a NUL */
    size_t size;
};

/* Waiting -------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* false: the time is over. */
static bool wait_readable(const struct session *session, int fd)
{
    struct pollfd item = {.fd = fd, .events = POLLIN};
    for (;;) {
        int64_t left = session->until < 0 ? -1 : session->until - now_ms();
        if (session->until >= 0 && left <= 0)
            return false;
        int count = poll(&item, 1, left > INT32_MAX ? INT32_MAX : (int)left);
        if (count > 0)
            return true;
        if (count < 0 && errno != EINTR)
            return false;
    }
}

/* Reads octets behind what is there.  > 0; 0: the end; < 0: the time is over. */
static ssize_t read_some(struct session *session)
{
    if (session->size == ANSWER_MOST)
        return 0;
    if (!wait_readable(session, session->fd))
        return -1;
    ssize_t size;
    do
        size = read(session->fd, session->answer + session->size,
                    ANSWER_MOST - session->size);
    while (size < 0 && errno == EINTR);
    if (size <= 0)
        return 0;
    session->size += (size_t)size;
    session->answer[session->size] = 0;
    return size;
}

/* The answer ----------------------------------------------------------------------- */

/* The last line of what came, where it ends the answer: "ok" or "error ...". */
static char *last_line(const struct session *session)
{
    if (session->size == 0 || session->answer[session->size - 1] != '\n')
        return NULL;
    char *line = session->answer + session->size - 1;
    while (line > session->answer && line[-1] != '\n')
        line--;
    bool is_end = strcmp(line, "ok\n") == 0 || strncmp(line, "error ", 6) == 0;
    return is_end ? line : NULL;
}

/* Turns \n and \\ back into what they stand for. */
static void unescape(char *text)
{
    char *out = text;
    for (; *text; text++) {
        bool is_escape = *text == '\\' && (text[1] == 'n' || text[1] == '\\');
        if (is_escape)
            text++;
        char plain = *text;
        if (is_escape && plain == 'n')
            plain = '\n';
        *out++ = plain;
    }
    *out = 0;
}

/* Prints "error <code> <text>" and gives the code. */
static int fail_as_told(char *line)
{
    char *text;
    long code = strtol(line + 6, &text, 10);
    unescape(text);
    fprintf(stderr, "luaweb: %s", text + (*text == ' '));
    return code > 0 && code < 126 ? (int)code : FAILED;
}

static int say_no_answer(const struct session *session)
{
    fprintf(stderr, "luaweb: the server (pid %d) has not answered within %g s\n",
            (int)session->pid, session->seconds);
    return NO_ANSWER;
}

/* Sends the command and prints what comes. */
static int ask(struct session *session, const char *command)
{
    char line[LW_CONTROL_LINE];
    int size = snprintf(line, sizeof line, "%s\n", command);
    char *last = NULL;
    /* Where it refuses us it says so and closes, without a look at what we send. */
    send(session->fd, line, (size_t)size, MSG_NOSIGNAL);
    ssize_t got;
    do {
        got = read_some(session);
        last = last_line(session);
    } while (got > 0 && !last);
    if (got < 0)
        return say_no_answer(session);
    if (!last) {
        fputs("luaweb: the server ended before it answered\n", stderr);
        return NO_ANSWER;
    }
    if (*last == 'e')
        return fail_as_told(last);
    *last = 0;
    fputs(session->answer, stdout);
    return 0;
}

/* The end of the server ------------------------------------------------------------ */

/* Keeps hold of the process behind the socket, so that its end can be awaited. */
static void find_process(struct session *session)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    if (getsockopt(session->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
        session->pid = peer.pid;
    if (session->pid > 0)
        session->process = (int)syscall(SYS_pidfd_open, session->pid, 0);
}

static int say_no_end(const struct session *session)
{
    fprintf(
        stderr,
        "luaweb: the server (pid %d) is told to stop, but has not ended within %g s:"
        " requests may still run; luaweb stop --now cuts them\n",
        (int)session->pid, session->seconds);
    return NO_ANSWER;
}

/* Until its process has ended, or, where that can't be seen, its socket. */
static int await_end(struct session *session)
{
    if (session->process >= 0)
        return wait_readable(session, session->process) ? 0 : say_no_end(session);
    ssize_t got;
    do
        got = read_some(session);
    while (got > 0);
    return got == 0 ? 0 : say_no_end(session);
}

static int converse(const struct lw_remote *remote, int fd)
{
    bool is_stop = strcmp(remote->command, "stop") == 0;
    char command[LW_CONTROL_LINE];
    struct session session = {.fd = fd, .process = -1, .seconds = remote->seconds};
    session.until =
        remote->seconds > 0 ? now_ms() + (int64_t)(remote->seconds * 1000) : -1;
    session.answer = lw_alloc(ANSWER_MOST + 1);
    session.answer[0] = 0;
    snprintf(command, sizeof command, "%s%s%s", remote->command,
             is_stop && remote->is_at_once ? " now" : "",
             remote->is_json ? " json" : "");
    find_process(&session);
    int code = ask(&session, command);
    if (code == 0 && is_stop)
        code = await_end(&session);
    free(session.answer);
    if (session.process >= 0)
        close(session.process);
    return code;
}

/* The command line ----------------------------------------------------------------- */

static bool wrong(const struct lw_remote *remote, const char *what, const char *which)
{
    fprintf(stderr, "luaweb: %s: %s: %s\nTry: luaweb %s --help\n", remote->command,
            what, which, remote->command);
    return false;
}

/* The value of the flag `name` in this word, or `next` where it stands apart; NULL: the
 * word is another. */
static const char *value_of(const char *word, const char *next, const char *name)
{
    size_t size = strlen(name);
    if (strncmp(word, name, size) != 0)
        return NULL;
    if (word[size] == '=')
        return word + size + 1;
    return word[size] == 0 ? next : NULL;
}

static bool read_seconds(struct lw_remote *remote, const char *text)
{
    char *end;
    remote->seconds = strtod(text, &end);
    if (end != text && *end == 0 && remote->seconds >= 0 && remote->seconds < 1e9)
        return true;
    return wrong(remote, "--timeout wants seconds, 0 or more", text);
}

/* Reads a word, and perhaps the next: then *is_apart is set. */
static bool read_word(struct lw_remote *remote, const char *word, const char *next,
                      bool *is_apart)
{
    const char *seconds = value_of(word, next, "--timeout");
    const char *listen = value_of(word, next, "--listen");
    *is_apart = next && (seconds == next || listen == next);
    if (seconds)
        return read_seconds(remote, seconds);
    if (listen)
        remote->listen = listen;
    else if (strcmp(word, "--json") == 0 && strcmp(remote->command, "status") == 0)
        remote->is_json = true;
    else if (strcmp(word, "--now") == 0 && strcmp(remote->command, "stop") == 0)
        remote->is_at_once = true;
    else if (*word == '-')
        return wrong(remote, "this option is not one of this command's", word);
    else
        return wrong(remote, "wants no argument", word);
    return true;
}

bool lw_remote_is(const char *command)
{
    return strcmp(command, "reload") == 0 || strcmp(command, "stop") == 0
           || strcmp(command, "status") == 0;
}

int lw_remote_run(const struct lw_options *options)
{
    struct lw_remote remote = {
        .command = options->argv[0],
        .control = options->control,
        .seconds = USUAL_SECONDS,
    };
    if (strcmp(remote.command, "status") == 0)
        remote.seconds = LOOK_SECONDS;
    for (int at = 1; at < options->argc; at++) { /* argv ends with NULL */
        bool is_apart = false;
        if (!read_word(&remote, options->argv[at], options->argv[at + 1], &is_apart))
            return WRONG_USAGE;
        at += is_apart;
    }
    int code = 0;
    int fd = lw_remote_connect(&remote, &code);
    if (fd < 0)
        return code;
    code = converse(&remote, fd);
    close(fd);
    return code;
}
