/* SPDX-License-Identifier: MIT
 *
 * The command `dev`. */
#include "process/develop.h"

#include <stdio.h>
#include <string.h>

#include "net/dev.h"
#include "process/address.h"
#include "process/orders.h"
#include "process/worker.h"

/* clang-format off */
const char lw_develop_help[] =
    "luaweb dev app.lua [--listen host:port] [--allow-remote] [--access-log path]\n\n"
    "Serves an app while you write it, with one worker.  A change of its script, of a\n"
    "module that it has loaded, or of what lies in its folder (Lua, HTML, CSS, scripts,\n"
    "images, text) loads it anew; pages in a browser refresh themselves.  What does not\n"
    "load is shown with its source line, and what loaded last goes on serving.\n\n"
    "Failures are answered with the traceback, the source, the request, and its walk\n"
    "through the decision graph.  http://127.0.0.1:8080/.luaweb/trace lists the last\n"
    "requests with their walks.  The terminal has one line a request.\n\n"
    "Sources are shown to whoever asks, so it listens on this machine only (127.0.0.1,\n"
    "::1, localhost, unix:) unless --allow-remote says that others may see them.\n\n"
    "Examples\n"
    "  luaweb dev apps/hello.lua\n"
    "  luaweb dev app.lua --listen 127.0.0.1:3000\n";
/* clang-format on */

bool lw_develop_read(struct lw_options *options)
{
    struct lw_address address;
    options->is_dev = strcmp(options->argv[0], "dev") == 0;
    if (options->is_dev && options->limits.stall_warning == 0)
        options->limits.stall_warning = LW_DEV_WARNING_MS;
    if (!options->is_dev || options->wants_help)
        return true;
    options->workers = 1;
    if (!options->access_log)
        options->access_log = "terminal:-";
    for (uint32_t i = 0; i < options->listen_count && !options->allow_remote; i++) {
        if (!lw_address_read(&address, options->listens[i])
            || lw_address_is_here(&address))
            continue; /* what is no address is refused later */
        fprintf(stderr,
                "luaweb: --listen %s: others could reach this, and `luaweb dev` shows "
                "sources and requests to whoever asks.  Say --allow-remote if they "
                "may\n",
                options->listens[i]);
        return false;
    }
    return true;
}

/* In words for the log. */
static void on_changed(void *context, const char *path)
{
    char why[512];
    int n = snprintf(why, sizeof why, "%.480s has changed", path);
    lw_orders_wish_reload(context, why, (size_t)n);
}

void lw_develop_begin(struct lw_worker *worker)
{
    if (worker->options->is_dev)
        lw_dev_open(&worker->loop, on_changed, worker);
}
