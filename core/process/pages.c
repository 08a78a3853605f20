/* SPDX-License-Identifier: MIT
 *
 * The texts of help pages. */
#include "process/pages.h"

/* clang-format off */
#define FINDS \
    "Without --control and --listen it is the only server that runs here: its\n" \
    "socket is looked for in $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR and /run/luaweb.\n" \
    "Only root and the user of the server may do this.\n\n"

const char lw_page_test[] =
    "luaweb test [dir|file ...] [--filter pattern] [--timeout seconds] [--verbose]\n\n"
    "Runs specs (busted style) inside luaweb, each as a job that may wait: all files\n"
    "that end in _spec.lua of the folders named (default: spec), or the files named.\n"
    "The last line is: N passed, N failed.  A pending spec counts as failed.\n\n"
    "  --filter pattern   only specs whose whole name matches this Lua pattern\n"
    "  --timeout seconds  that a spec may take (default 60, 0: no limit)\n"
    "  --verbose          names every spec that passes\n\n"
    "Examples\n"
    "  luaweb test\n"
    "  luaweb test spec/hello_spec.lua --filter greets\n\n"
    "Exit codes: 0 all have passed; 1 there is none to run; 2 wrong usage; 4 a spec\n"
    "            failed\n";

const char lw_page_routes[] =
    "luaweb routes app.lua [--json]\n\n"
    "Lists the app's resources: template, methods, the media types that they offer\n"
    "and accept, and where they are declared.  Nothing of the app runs but its script.\n";

const char lw_page_explain[] =
    "luaweb explain app.lua [METHOD] /path [-H 'Name: value'] [-d body]\n"
    "               [--json | --dot]\n\n"
    "Shows how the app answers one request: which resource it is for, what the\n"
    "compiler made of the decision graph for its method, the program that is left,\n"
    "each row that this request passed with its answer and the reason, and the\n"
    "response with where its fields come from.  Without a path: all resources, and\n"
    "what they are asked at run time.\n\n"
    "The request is a real one: functions of the app run, its operations too.\n"
    "METHOD is GET where it is left out.  Credentials are not shown.\n\n"
    "Examples\n"
    "  luaweb explain apps/hello.lua\n"
    "  luaweb explain apps/hello.lua GET /hello\n"
    "  luaweb explain apps/hello.lua /hello -H 'If-None-Match: *'\n"
    "  luaweb explain todo.lua POST /todo -H 'Content-Type: application/json' -d {}\n"
    "  luaweb explain apps/hello.lua /hello --dot | dot -Tsvg >hello.svg\n";

const char lw_page_check[] =
    "luaweb check app.lua [-H 'Name: value'] [--param name=value] [--json]\n\n"
    "Loads the app and asks each of its resources what HTTP requires of it: Allow and\n"
    "405, OPTIONS, HEAD, 304 for its own validators, Vary, 406, challenges, 501.\n"
    "One line for each finding (file:line: template: what), then a summary.\n\n"
    "Functions of the app run, but no operation does: only GET, HEAD, OPTIONS and\n"
    "methods that a resource does not have are sent.  What could not be tried is said.\n"
    "Variables of templates get sample values unless --param names one.\n\n"
    "Examples\n"
    "  luaweb check apps/hello.lua\n"
    "  luaweb check todo.lua --param id=7 -H 'Authorization: Bearer token'\n\n"
    "Exit codes: 0 nothing is wrong (there may be warnings); 1 the app does not load;\n"
    "            2 wrong usage; 4 something is wrong\n";

const char lw_page_reload[] =
    "luaweb reload [--control path] [--listen address] [--timeout seconds]\n\n"
    "Has a running server load its app anew, and waits until every worker serves the\n"
    "new version.  Connections stay open.  When the new version does not load, all go\n"
    "on with the old one, and what is wrong is printed with file and line.\n\n"
    FINDS
    "Examples\n"
    "  luaweb reload\n"
    "  luaweb reload --listen 127.0.0.1:8080\n"
    "  luaweb check app.lua && luaweb reload --control /run/shop.sock\n\n"
    "Exit codes: 0 every worker serves the new version; 1 it does not load; 2 wrong\n"
    "            usage, or several servers run and none is named; 5 no server, or no\n"
    "            answer within --timeout (default 90)\n";

const char lw_page_stop[] =
    "luaweb stop [--now] [--control path] [--listen address] [--timeout seconds]\n\n"
    "Has a running server stop, and waits until it has ended: it takes no new\n"
    "connections, and those that are open get --drain-timeout to end.  --now cuts\n"
    "them.\n\n"
    FINDS
    "Examples\n"
    "  luaweb stop\n"
    "  luaweb stop --now --listen unix:/run/hello.sock\n\n"
    "Exit codes: 0 it has ended; 2 wrong usage, or several servers run and none is\n"
    "            named; 5 no server, or it still runs after --timeout (default 90)\n";

const char lw_page_status[] =
    "luaweb status [--json] [--control path] [--listen address] [--timeout seconds]\n\n"
    "Shows how a running server is: its process, version, app and addresses, how\n"
    "often it was loaded anew, how many workers had to be replaced, and each worker\n"
    "with its state, its generation of the app and its connections.\n\n"
    FINDS
    "Examples\n"
    "  luaweb status\n"
    "  luaweb status --json | jq '.workers[].connections'\n\n"
    "Exit codes: 0 it is shown; 2 wrong usage, or several servers run and none is\n"
    "            named; 5 no server, or no answer within --timeout (default 10)\n";
/* clang-format on */
