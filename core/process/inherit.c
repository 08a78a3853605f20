/* SPDX-License-Identifier: MIT
 *
 * Writes and reads LUAWEB_WORKER. */
#include "process/inherit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "process/channel.h"

void lw_inherit_write(char out[LW_INHERIT_ROOM], const struct lw_inherited *inherited)
{
    snprintf(out, LW_INHERIT_ROOM, "%u:%d:%d:%u:%d", inherited->slot,
             inherited->channel, inherited->shared, inherited->generation,
             inherited->is_first);
}

bool lw_inherit_read(struct lw_inherited *inherited)
{
    const char *text = getenv(LW_INHERIT_NAME);
    int is_first;
    if (!text
        || sscanf(text, "%u:%d:%d:%u:%d", &inherited->slot, &inherited->channel,
                  &inherited->shared, &inherited->generation, &is_first)
               != 5
        || !lw_channel_is(inherited->channel))
        return false; /* it is not there, or somebody has left it in the environment */
    inherited->is_first = is_first != 0;
    unsetenv(LW_INHERIT_NAME);
    fcntl(inherited->channel, F_SETFD, FD_CLOEXEC);
    if (inherited->shared >= 0)
        fcntl(inherited->shared, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_NAME, "luaweb"); /* it was started as /proc/self/exe */
    return true;
}
