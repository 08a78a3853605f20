/* SPDX-License-Identifier: MIT
 *
 * A Lua state beside the main one, without a loop: answers calls, octets for octets
 * (lua/luaweb/offload_state.lua).  One thread at a time may use it. */
#ifndef LW_HOST_OFFLOAD_STATE_H
#define LW_HOST_OFFLOAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lw_offload_state;

/* What a call gives: the caller owns the octets (free). */
struct lw_offload_answer {
    char *data;
    size_t size;
    bool is_lost; /* they are a message: Lua could not answer at all */
    bool is_last; /* the state is good for no other call, and to be closed */
};

/* Opens one that may hold so many octets (0: any number); the caller owns it until it
 * is closed.  It sets itself up in its first call.  NULL: no memory. */
struct lw_offload_state *lw_offload_state_open(uint64_t limit);

void lw_offload_state_close(struct lw_offload_state *state);

/* Runs until the function that the octets (borrowed) name has ended. */
struct lw_offload_answer lw_offload_state_call(struct lw_offload_state *state,
                                               const char *call, size_t size);

#endif
