/* SPDX-License-Identifier: MIT
 *
 * Answers that are said again. */
#include "net/repeat.h"

#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "net/conn.h"
#include "net/loop.h"

#define DATE_SIZE 29

struct lw_repeat {
    const struct luaweb_app *app; /* that answered; borrowed */
    size_t head_size;
    size_t answer_size;
    size_t date_at; /* in the answer; 0: it has none of ours */
    uint32_t key;   /* under which it is counted */
    char head[LW_REPEAT_HEAD];
    char answer[LW_REPEAT_ANSWER];
};

/* Whether answers may be copied now: not where each is logged or looked at,
 * nor where they say that the connection ends. */
static bool may_repeat(const struct lw_loop *loop)
{
    return !loop->is_draining && loop->shed_count == 0 && !loop->access_log
           && !loop->trace && !loop->dev && !loop->keeps_spans
           && loop->limits.shown_ids != LW_IDS_IN_ALL && loop->limits.max_requests == 0;
}

static bool begins_with(const struct lw_buffer *in, const struct lw_repeat *repeat)
{
    return lw_buffer_size(in) >= repeat->head_size
           && memcmp(in->data + in->start, repeat->head, repeat->head_size) == 0;
}

bool lw_repeat_answer(struct lw_conn *conn)
{
    const struct lw_repeat *repeat = conn->repeat;
    struct lw_loop *loop = conn->loop;
    if (conn->scan.at > 0 || !may_repeat(loop) || !begins_with(&conn->in, repeat))
        return false;
    struct lw_buffer *out = &conn->out;
    lw_buffer_reserve(out, &loop->blocks, repeat->answer_size);
    char *at = out->data + out->end;
    memcpy(at, repeat->answer, repeat->answer_size);
    if (repeat->date_at)
        memcpy(at + repeat->date_at, lw_loop_date(loop), DATE_SIZE);
    out->end += repeat->answer_size;
    lw_buffer_consume(&conn->in, repeat->head_size);
    conn->served++;
    conn->has_answered = true;
    lw_tally_end(&loop->tally, repeat->key, lw_tally_now(&loop->tally));
    lw_conn_touch(conn);
    return true;
}

/* Errors of the server tell which request they were for. */
static bool tells_id(const char *answer)
{
    return answer[sizeof "HTTP/1.1 " - 1] == '5';
}

/* Where our Date stands: the formatter writes it second. */
static size_t find_date(const char *answer, size_t size)
{
    static const char name[] = "\r\nDate: ";
    const char *found = memmem(answer, size, name, sizeof name - 1);
    return found ? (size_t)(found - answer) + sizeof name - 1 : 0;
}

void lw_repeat_keep(struct lw_conn *conn, struct luaweb_slice head, size_t size)
{
    if (head.size > LW_REPEAT_HEAD || size > LW_REPEAT_ANSWER || !may_repeat(conn->loop)
        || tells_id(conn->out.data + conn->out.end - size))
        return;
    if (!conn->repeat)
        conn->repeat = lw_alloc(sizeof *conn->repeat);
    struct lw_repeat *repeat = conn->repeat;
    repeat->head_size = head.size;
    repeat->answer_size = size;
    memcpy(repeat->head, head.data, head.size);
    memcpy(repeat->answer, conn->out.data + conn->out.end - size, size);
    repeat->key = conn->loop->tally.last.key; /* it has ended just now */
    repeat->date_at = find_date(repeat->answer, size);
}

void lw_repeat_forget(struct lw_conn *conn)
{
    free(conn->repeat);
    conn->repeat = NULL;
}
