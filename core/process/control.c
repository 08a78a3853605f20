/* SPDX-License-Identifier: MIT
 *
 * The master's side of the control socket: clients, each with one command at a time. */
#include "process/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/require.h"

enum client_state {
    CLIENT_READING,   /* a command */
    CLIENT_WAITING,   /* for what the master does */
    CLIENT_ANSWERING, /* until it is sent */
    CLIENT_CLOSING
};

struct lw_control_client {
    uv_pipe_t pipe;
    uv_timer_t timer;
    uv_write_t write;
    struct lw_control *control;
    struct lw_control_client *next;
    enum client_state state;
    uint32_t number; /* of the command that waits */
    uint32_t open_handles;
    size_t size;
    bool has_ended; /* it sends no more */
    char line[LW_CONTROL_LINE];
    char *answer; /* owned, while it is sent */
    size_t answer_size;
};

/* The end of a client -------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
    struct lw_control_client *client = handle->data;
    if (--client->open_handles > 0)
        return;
    free(client->answer);
    free(client);
}

static void close_client(struct lw_control_client *client)
{
    struct lw_control *control = client->control;
    if (client->state == CLIENT_CLOSING)
        return;
    client->state = CLIENT_CLOSING;
    struct lw_control_client **at = &control->clients;
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    control->client_count--;
    uv_close((uv_handle_t *)&client->pipe, on_closed);
    uv_close((uv_handle_t *)&client->timer, on_closed);
}

static void on_late(uv_timer_t *timer)
{
    close_client(timer->data);
}

static void give_time(struct lw_control_client *client)
{
    uv_timer_start(&client->timer, on_late, LW_CONTROL_WAIT_MS, 0);
}

/* Answers -------------------------------------------------------------------------- */

static void read_on(struct lw_control_client *client);

static void on_written(uv_write_t *write, int status)
{
    struct lw_control_client *client = write->data;
    free(client->answer);
    client->answer = NULL;
    if (client->state == CLIENT_CLOSING)
        return;
    if (status < 0)
        close_client(client);
    else
        read_on(client);
}

static void send_answer(struct lw_control_client *client)
{
    uv_buf_t part = uv_buf_init(client->answer, (unsigned)client->answer_size);
    uv_stream_t *stream = (uv_stream_t *)&client->pipe;
    client->state = CLIENT_ANSWERING;
    client->write.data = client;
    give_time(client);
    if (uv_write(&client->write, stream, &part, 1, on_written) != 0)
        close_client(client);
}

/* A stream whose text becomes the client's answer when it is closed. */
static FILE *open_answer(struct lw_control_client *client)
{
    free(client->answer);
    client->answer = NULL;
    FILE *out = open_memstream(&client->answer, &client->answer_size);
    lw_require(out != NULL);
    return out;
}

/* Writes a message as one line; nobody's terminal obeys what is in it. */
static void print_escaped(FILE *out, const char *text)
{
    for (size_t i = 0; text[i] && i < LW_CONTROL_TEXT; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n')
            fputs("\\n", out);
        else if (c == '\\')
            fputs("\\\\", out);
        else if ((c < 0x20 && c != '\t') || c == 0x7f)
            fprintf(out, "\\x%02x", c);
        else
            fputc(c, out);
    }
}

static void answer(struct lw_control_client *client, int code, const char *text)
{
    FILE *out = open_answer(client);
    if (code != 0)
        fprintf(out, "error %d ", code);
    print_escaped(out, text);
    if (code != 0 || *text)
        fputc('\n', out);
    if (code == 0)
        fputs("ok\n", out);
    fclose(out);
    send_answer(client);
}

/* Commands ------------------------------------------------------------------------- */

enum {
    WRONG_USAGE = 2,
    CANNOT_LISTEN = 3,
    NO_ANSWER = 5
};

static void answer_status(struct lw_control_client *client, bool wants_json)
{
    struct lw_control *control = client->control;
    struct lw_status status = {0};
    control->calls.status(control->calls.context, &status);
    FILE *out = open_answer(client);
    if (wants_json)
        lw_status_print_json(out, &status);
    else
        lw_status_print(out, &status);
    fputs("ok\n", out);
    fclose(out);
    send_answer(client);
}

static void begin_reload(struct lw_control_client *client)
{
    struct lw_control *control = client->control;
    client->state = CLIENT_WAITING;
    client->number = ++control->last_number;
    uv_timer_stop(&client->timer);
    control->calls.reload(control->calls.context, client->number);
}

static void begin_stop(struct lw_control_client *client, bool is_at_once)
{
    struct lw_control *control = client->control;
    answer(client, 0, "");
    control->calls.stop(control->calls.context, is_at_once);
}

static void remove_path(struct lw_control *control)
{
    struct stat info;
    if (lstat(control->path, &info) == 0 && info.st_dev == control->device
        && info.st_ino == control->inode)
        unlink(control->path);
    control->inode = 0;
}

static void yield(struct lw_control_client *client)
{
    if (!client->control->is_ending) {
        answer(client, CANNOT_LISTEN, "this server goes on");
        return;
    }
    remove_path(client->control);
    answer(client, 0, "");
}

static void run_command(struct lw_control_client *client, const char *line)
{
    if (strcmp(line, "reload") == 0)
        begin_reload(client);
    else if (strcmp(line, "stop") == 0 || strcmp(line, "stop now") == 0)
        begin_stop(client, line[4] != 0);
    else if (strcmp(line, "status") == 0 || strcmp(line, "status json") == 0)
        answer_status(client, line[6] != 0);
    else if (strcmp(line, "version") == 0)
        answer(client, 0, "luaweb " LUAWEB_VERSION);
    else if (strcmp(line, "yield") == 0)
        yield(client);
    else
        answer(client, WRONG_USAGE,
               "no such command; there are reload, stop, stop now, status, status"
               " json, version");
}

/* Takes the first line out of what was read, as text.  false: there is none yet. */
static bool take_line(struct lw_control_client *client, char out[LW_CONTROL_LINE])
{
    char *end = memchr(client->line, '\n', client->size);
    if (!end && (!client->has_ended || client->size == 0))
        return false;
    size_t size = end ? (size_t)(end - client->line) : client->size;
    size_t taken = end ? size + 1 : size;
    memcpy(out, client->line, size);
    client->size -= taken;
    memmove(client->line, client->line + taken, client->size);
    if (size > 0 && out[size - 1] == '\r')
        size--;
    out[size] = 0;
    if (strlen(out) != size)
        out[0] = 0; /* a NUL is in it: it is no command */
    return true;
}

/* Reading -------------------------------------------------------------------------- */

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *room)
{
    struct lw_control_client *client = handle->data;
    (void)size;
    size_t left = sizeof client->line - 1 - client->size;
    *room = uv_buf_init(client->line + client->size, (unsigned)left);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *room)
{
    struct lw_control_client *client = stream->data;
    (void)room;
    if (size == 0)
        return;
    uv_read_stop(stream);
    if (size > 0)
        client->size += (size_t)size;
    else if (size == UV_EOF)
        client->has_ended = true;
    else {
        close_client(client);
        return;
    }
    read_on(client);
}

/* Runs the command that is there, or goes on reading.  What follows a command waits,
 * in our buffer and then in the system's. */
static void read_on(struct lw_control_client *client)
{
    char line[LW_CONTROL_LINE];
    client->state = CLIENT_READING;
    if (take_line(client, line)) {
        run_command(client, line);
    } else if (client->size == sizeof client->line - 1) {
        client->size = 0;
        client->has_ended = true; /* what comes is the rest of that line */
        answer(client, WRONG_USAGE, "this command is too long");
    } else if (client->has_ended
               || uv_read_start((uv_stream_t *)&client->pipe, on_room, on_read) != 0) {
        close_client(client);
    } else {
        give_time(client);
    }
}

/* Clients -------------------------------------------------------------------------- */

/* NULL: it is heard; else why not. */
static const char *refusal_of(const struct lw_control_client *client)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    int fd = -1;
    if (uv_fileno((const uv_handle_t *)&client->pipe, &fd) != 0
        || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return "nobody knows who you are";
    if (peer.uid != 0 && peer.uid != geteuid())
        return "only root and the user of this server may do this";
    if (client->control->client_count > LW_CONTROL_CLIENTS)
        return "too many clients at once: try again";
    return NULL;
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct lw_control *control = listener->data;
    if (status < 0) {
        lw_log(LW_LOG_WARN, "the control socket can't accept: %s", uv_strerror(status));
        return;
    }
    struct lw_control_client *client = lw_alloc(sizeof *client);
    *client = (struct lw_control_client){.control = control, .open_handles = 2};
    uv_pipe_init(listener->loop, &client->pipe, 0);
    uv_timer_init(listener->loop, &client->timer);
    client->pipe.data = client->timer.data = client;
    client->next = control->clients;
    control->clients = client;
    control->client_count++;
    int error = uv_accept(listener, (uv_stream_t *)&client->pipe);
    const char *refusal = error ? NULL : refusal_of(client);
    client->has_ended = refusal != NULL;
    if (error)
        close_client(client);
    else if (refusal)
        answer(client, NO_ANSWER, refusal);
    else
        read_on(client);
}

/* Public --------------------------------------------------------------------------- */

int lw_control_open(struct lw_control *control, uv_loop_t *loop, int fd,
                    const char *path, const struct lw_control_calls *calls)
{
    struct stat info = {0};
    *control = (struct lw_control){.calls = *calls};
    int error = uv_pipe_init(loop, &control->listener, 0);
    lw_require(error == 0);
    error = uv_pipe_open(&control->listener, fd);
    if (error)
        close(fd);
    else /* a second listen() makes us the process that clients see behind it */
        error = uv_listen((uv_stream_t *)&control->listener, LW_CONTROL_CLIENTS,
                          on_connection);
    if (error) {
        uv_close((uv_handle_t *)&control->listener, NULL);
        return error;
    }
    control->listener.data = control;
    control->path = lw_alloc(strlen(path) + 1);
    memcpy(control->path, path, strlen(path) + 1);
    if (lstat(path, &info) == 0) {
        control->device = info.st_dev;
        control->inode = info.st_ino;
    }
    return 0;
}

void lw_control_answer(struct lw_control *control, uint32_t number, int code,
                       const char *text)
{
    for (struct lw_control_client *c = control->clients; c; c = c->next) {
        if (c->state != CLIENT_WAITING || c->number != number)
            continue;
        answer(c, code, text);
        return;
    }
}

int lw_control_descriptor(const struct lw_control *control)
{
    int fd = -1;
    return uv_fileno((const uv_handle_t *)&control->listener, &fd) == 0 ? fd : -1;
}

void lw_control_end(struct lw_control *control)
{
    control->is_ending = true;
}

void lw_control_close(struct lw_control *control, bool is_handed_on)
{
    static char last[] = "error 5 the server ends\n";
    uv_buf_t part = uv_buf_init(last, sizeof last - 1);
    if (!is_handed_on)
        remove_path(control);
    free(control->path);
    control->path = NULL;
    uv_close((uv_handle_t *)&control->listener, NULL);
    while (control->clients) {
        if (control->clients->state == CLIENT_WAITING)
            uv_try_write((uv_stream_t *)&control->clients->pipe, &part, 1);
        close_client(control->clients);
    }
}
