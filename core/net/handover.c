/* SPDX-License-Identifier: MIT
 *
 * Who gives what to whom.  A worker that is in the middle of a long turn gets nothing,
 * nor does one whose queue is full.
 *
 * Where connections are short, nothing is given: chance evens out by itself, and giving
 * would cost more than it brings (a fifth of the throughput, with one request each). */
#include "net/handover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/require.h"
#include "net/loop.h"
#include "share/board.h"

#define LOOKS   8  /* workers that are looked at for each connection */
#define MARGIN  2  /* connections that we may have more than another, */
#define SHARE   64 /* and one more for each so many */
#define BUSY_MS 20 /* a turn that is older: who knows when it ends */

#define WINDOW_MS  1000 /* after which half of the accepted count as forgotten, */
#define SHORT      4    /* and so many times as many as are open are short ones, */
#define SHORT_MORE 64   /* where there are more than these */

#define LOOK_MS    500 /* between two looks at who has far more */
#define FAR_MORE   8   /* connections, */
#define FAR_SHARE  8   /* and one more for each so many */
#define SHED_SHARE 8   /* of what it has more, what is shed until the next look */

struct lw_peers {
    uv_timer_t look;
    uint64_t window_began_ms;
    uint32_t accepted;        /* lately */
    int ends[LW_MAX_WORKERS]; /* owned; -1: none */
    uint32_t at;              /* who is looked at next */
    uint32_t most;            /* slots above have none */
};

static void on_look(uv_timer_t *look);

static struct lw_peers *new_peers(struct lw_loop *loop)
{
    struct lw_peers *peers = lw_alloc(sizeof *peers);
    memset(peers, 0, sizeof *peers);
    for (uint32_t i = 0; i < LW_MAX_WORKERS; i++)
        peers->ends[i] = -1;
    uv_timer_init(&loop->uv, &peers->look);
    peers->look.data = loop;
    uv_timer_start(&peers->look, on_look, LOOK_MS, LOOK_MS);
    uv_unref((uv_handle_t *)&peers->look);
    return peers;
}

void lw_handover_add(struct lw_loop *loop, uint32_t slot, int end)
{
    if (slot >= LW_MAX_WORKERS || slot == lw_board_slot()) {
        close(end);
        return;
    }
    if (!loop->peers)
        loop->peers = new_peers(loop);
    if (loop->peers->ends[slot] >= 0)
        close(loop->peers->ends[slot]);
    loop->peers->ends[slot] = end;
    if (slot >= loop->peers->most)
        loop->peers->most = slot + 1;
}

void lw_handover_destruct(struct lw_loop *loop)
{
    for (uint32_t i = 0; loop->peers && i < loop->peers->most; i++)
        if (loop->peers->ends[i] >= 0)
            close(loop->peers->ends[i]);
    free(loop->peers);
    loop->peers = NULL;
}

/* How many connections a worker has, and is being given. */
static uint32_t load_of(const struct lw_slot *slot)
{
    return atomic_load_explicit(&slot->conn_count, memory_order_relaxed)
           + atomic_load_explicit(&slot->given_count, memory_order_relaxed);
}

static bool is_free(const struct lw_slot *slot, uint64_t now_ms)
{
    uint64_t began = atomic_load_explicit(&slot->turn_began_ms, memory_order_relaxed);
    return atomic_load_explicit(&slot->state, memory_order_relaxed) == LW_SLOT_READY
           && (began == 0 || began + BUSY_MS > now_ms);
}

/* What it has more than a worker that has far fewer, and can accept. */
static uint32_t too_many(const struct lw_loop *loop)
{
    uint32_t own = load_of(lw_board_own());
    uint32_t most = 0;
    for (uint32_t i = 0; i < loop->peers->most; i++) {
        const struct lw_slot *slot = &lw_board()->slots[i];
        uint32_t load = load_of(slot);
        if (loop->peers->ends[i] >= 0 && own > load + load / FAR_SHARE + FAR_MORE
            && own - load > most && is_free(slot, uv_now(&loop->uv)))
            most = own - load;
    }
    return most;
}

static void on_look(uv_timer_t *look)
{
    struct lw_loop *loop = look->data;
    loop->shed_count = (too_many(loop) + SHED_SHARE - 1) / SHED_SHARE;
}

bool lw_handover_sheds(struct lw_loop *loop)
{
    return loop->shed_count > 0 && loop->shed_count-- > 0;
}

/* Counts one that was accepted. */
static bool are_short(struct lw_loop *loop)
{
    struct lw_peers *peers = loop->peers;
    uint64_t now_ms = uv_now(&loop->uv);
    while (peers->accepted > 0 && now_ms - peers->window_began_ms > WINDOW_MS) {
        peers->accepted /= 2;
        peers->window_began_ms += WINDOW_MS;
    }
    if (peers->accepted++ == 0)
        peers->window_began_ms = now_ms;
    return peers->accepted > loop->conn_count * SHORT + SHORT_MORE;
}

/* The slot among the next few that has clearly fewer than we; -1: none. */
static int find_taker(struct lw_loop *loop)
{
    struct lw_peers *peers = loop->peers;
    uint32_t bound = load_of(lw_board_own()) + 1;
    uint64_t now_ms = uv_now(&loop->uv);
    int found = -1;
    for (uint32_t i = 0, looks = 0; i < peers->most && looks < LOOKS; i++) {
        uint32_t at = peers->at = (peers->at + 1) % peers->most;
        if (peers->ends[at] < 0)
            continue;
        const struct lw_slot *slot = &lw_board()->slots[at];
        uint32_t load = load_of(slot);
        looks++;
        if (load + MARGIN + load / SHARE >= bound || !is_free(slot, now_ms))
            continue;
        bound = load;
        found = (int)at;
    }
    return found;
}

union control {
    struct cmsghdr header; /* aligns */
    char octets[CMSG_SPACE(sizeof(int))];
};

static bool send_to(int end, int fd)
{
    char octet = 0;
    struct iovec part = {&octet, 1};
    union control control;
    memset(&control, 0, sizeof control);
    struct msghdr packet = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.octets,
        .msg_controllen = sizeof control.octets,
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    return sendmsg(end, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

bool lw_handover_give(struct lw_loop *loop, int fd)
{
    if (!loop->peers || loop->is_draining || are_short(loop))
        return false;
    int taker = find_taker(loop);
    if (taker < 0)
        return false;
    struct lw_slot *slot = &lw_board()->slots[taker];
    atomic_fetch_add_explicit(&slot->given_count, 1, memory_order_relaxed);
    if (!send_to(loop->peers->ends[taker], fd)) {
        atomic_fetch_sub_explicit(&slot->given_count, 1, memory_order_relaxed);
        return false;
    }
    close(fd);
    return true;
}

int lw_handover_take(int end, uint32_t slot)
{
    char octet;
    struct iovec part = {&octet, 1};
    union control control;
    struct msghdr packet = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.octets,
        .msg_controllen = sizeof control.octets,
    };
    ssize_t n = recvmsg(end, &packet, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n == 0)
        errno = EPIPE;
    if (n <= 0)
        return -1;
    atomic_fetch_sub_explicit(&lw_board()->slots[slot].given_count, 1,
                              memory_order_relaxed);
    struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
    int fd = -1;
    errno = EMFILE; /* then the system has closed it */
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}
