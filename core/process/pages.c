/* SPDX-License-Identifier: MIT
 *
 * The texts of help pages. */
#include "process/pages.h"

#define FINDS                                                                             \
    "Without --control and --listen it is the only server that runs here: its socket\n"   \
    "is looked for in $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR and /run/luaweb.  Only root\n" \
    "and the user of the server may do this.\n\n"

/* clang-format off */
const char lw_page_reload[] =
    "luaweb reload [--control path] [--listen address] [--timeout seconds]\n\n"
    "Has a running server load its app anew, and waits until every worker serves the\n"
    "new version.  Connections stay open.  When the new version does not load, all go\n"
    "on with the old one, and what is wrong is printed with file and line.\n\n"
    FINDS
    "Examples\n"
    "  luaweb reload\n"
    "  luaweb reload --listen 127.0.0.1:8080\n"
    "  luaweb check app.lua && luaweb reload --control /run/luaweb/shop.sock\n\n"
    "Exit codes: 0 every worker serves the new version; 1 it does not load; 2 wrong\n"
    "            usage, or several servers run and none is named; 5 no answer within\n"
    "            --timeout (default 60), or no server\n";

const char lw_page_stop[] =
    "luaweb stop [--now] [--control path] [--listen address] [--timeout seconds]\n\n"
    "Has a running server stop, and waits until it has ended: it takes no new\n"
    "connections, and those that are open get --drain-timeout to end.  --now cuts them.\n\n"
    FINDS
    "Examples\n"
    "  luaweb stop\n"
    "  luaweb stop --now --listen unix:/run/hello.sock\n\n"
    "Exit codes: 0 it has ended; 2 wrong usage, or several servers run and none is named;\n"
    "            5 it still runs after --timeout (default 60), or no server\n";

const char lw_page_status[] =
    "luaweb status [--json] [--control path] [--listen address] [--timeout seconds]\n\n"
    "Shows how a running server is: its process, version, app and addresses, how often\n"
    "it was loaded anew, how many workers had to be replaced, and each worker with its\n"
    "state, its generation of the app and its connections.\n\n"
    FINDS
    "Examples\n"
    "  luaweb status\n"
    "  luaweb status --json | jq '.workers[].connections'\n\n"
    "Exit codes: 0 it is shown; 2 wrong usage, or several servers run and none is named;\n"
    "            5 no answer within --timeout (default 60), or no server\n";
/* clang-format on */
