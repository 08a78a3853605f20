/* SPDX-License-Identifier: MIT
 *
 * Joining and leaving what workers do together. */
#include "host/together.h"

#include <stdlib.h>
#include <string.h>

#include "net/loop.h"
#include "share/board.h"
#include "share/interest.h"

static uint32_t host_count;   /* so far */
static uint32_t reader_count; /* hosts of this process that read */

void lw_together_construct(struct lw_together *together)
{
    memset(together, 0, sizeof *together);
    together->id = LW_NO_ID;
    together->sender = (uint64_t)lw_board_slot() << 32 | ++host_count;
}

bool lw_together_open(struct lw_together *together)
{
    if (!together->ring)
        together->ring = lw_ring_open();
    return together->ring != NULL;
}

uint32_t lw_together_read(struct lw_together *together, struct lw_loop *loop,
                          struct lw_owner *owner)
{
    if (together->id != LW_NO_ID || !lw_together_open(together))
        return together->id;
    together->at = lw_ring_end(together->ring);
    together->id = lw_loop_add_id(loop, owner, LW_ID_BUS, together);
    reader_count++;
    return together->id;
}

bool lw_together_has_others(const struct lw_together *together)
{
    return reader_count > (together->id != LW_NO_ID);
}

void lw_together_destruct(struct lw_together *together, struct lw_loop *loop)
{
    if (together->id != LW_NO_ID) {
        lw_loop_drop_id(loop, together->id);
        reader_count--;
    }
    together->id = LW_NO_ID;
    free(together->room.data);
    together->room = (struct lw_ring_room){NULL, 0};
    if (together->wants)
        lw_wants_free(together->wants);
    together->wants = NULL;
    for (int i = 0; i < LW_ONCE_DUTIES; i++)
        if (together->has_duty[i])
            lw_once_give(i);
    memset(together->has_duty, 0, sizeof together->has_duty);
}
