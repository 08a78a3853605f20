/* SPDX-License-Identifier: MIT
 *
 * The floor of libuv: streams that answer every blank line with the same octets, parsing
 * nothing, with one write for all answers of a read.  What a server on libuv costs
 * beyond this is what it does.  usage: rawuv PORT */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include "floor.h"

struct client {
    uv_tcp_t tcp;
    unsigned matched; /* octets of CR LF CR LF seen */
    char room[FLOOR_ROOM];
};

static void on_close(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_written(uv_write_t *write, int status)
{
    (void)status;
    free(write);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
    struct client *client = handle->data;
    (void)size;
    *buffer = uv_buf_init(client->room, FLOOR_ROOM);
}

static void send_answers(uv_stream_t *stream, unsigned count)
{
    size_t size = count * FLOOR_SIZE;
    uv_buf_t buffer = uv_buf_init(floor_answers, (unsigned)size);
    int sent = uv_try_write(stream, &buffer, 1);
    if (sent == (int)size)
        return;
    size_t done = sent > 0 ? (size_t)sent : 0;
    uv_write_t *write = malloc(sizeof *write);
    if (!write)
        abort();
    buffer = uv_buf_init(floor_answers + done, (unsigned)(size - done));
    if (uv_write(write, stream, &buffer, 1, on_written) != 0)
        free(write);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct client *client = stream->data;
    if (size < 0) {
        uv_close((uv_handle_t *)stream, on_close);
        return;
    }
    unsigned count = floor_count(&client->matched, buffer->base, (size_t)size);
    while (count > 0) {
        unsigned batch = count < FLOOR_ANSWERS ? count : FLOOR_ANSWERS;
        send_answers(stream, batch);
        count -= batch;
    }
}

static void on_connection(uv_stream_t *server, int status)
{
    if (status < 0)
        return;
    struct client *client = malloc(sizeof *client);
    if (!client)
        abort();
    client->matched = 0;
    uv_tcp_init(server->loop, &client->tcp);
    client->tcp.data = client;
    uv_accept(server, (uv_stream_t *)&client->tcp);
    uv_tcp_nodelay(&client->tcp, 1);
    uv_read_start((uv_stream_t *)&client->tcp, on_alloc, on_read);
}

int main(int argc, char **argv)
{
    struct sockaddr_in address;
    uv_tcp_t server;
    if (argc != 2) {
        fprintf(stderr, "usage: rawuv PORT\n");
        return 2;
    }
    floor_prepare();
    uv_ip4_addr("127.0.0.1", atoi(argv[1]), &address);
    uv_tcp_init(uv_default_loop(), &server);
    uv_tcp_bind(&server, (const struct sockaddr *)&address, 0);
    int error = uv_listen((uv_stream_t *)&server, 511, on_connection);
    if (error) {
        fprintf(stderr, "rawuv: %s\n", uv_strerror(error));
        return 1;
    }
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
