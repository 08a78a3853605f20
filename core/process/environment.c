/* SPDX-License-Identifier: MIT
 *
 * Copies the environment. */
#include "process/environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/require.h"

/* Whether this is no business of who is started with the variable `name`: a worker is
 * not to speak to the service manager, a new master is. */
static bool is_for_one(const char *entry, const char *name)
{
    static const char *const names[] = {
        "LUAWEB_WORKER=", "LUAWEB_UPGRADE=", "WATCHDOG_PID=", "NOTIFY_SOCKET=",
        "WATCHDOG_USEC="};
    size_t count = strcmp(name, "LUAWEB_UPGRADE") == 0 ? 3 : 5;
    for (size_t i = 0; i < count; i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

char **lw_environment_with(const char *name, const char *value)
{
    size_t count = 0;
    while (environ[count])
        count++;
    /* The new one comes first, and is the only text that is owned. */
    char **copy = lw_alloc((count + 2) * sizeof *copy);
    size_t room = strlen(name) + strlen(value) + 2;
    size_t at = 0;
    copy[at] = lw_alloc(room);
    snprintf(copy[at++], room, "%s=%s", name, value);
    for (size_t i = 0; i < count; i++)
        if (!is_for_one(environ[i], name))
            copy[at++] = environ[i];
    copy[at] = NULL;
    return copy;
}

void lw_environment_free(char **environment)
{
    free(environment[0]);
    free(environment);
}
