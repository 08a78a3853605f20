/* SPDX-License-Identifier: MIT
 *
 * The command line: one table of flags, from which parsing and the help text come. */
#ifndef LW_PROCESS_OPTIONS_H
#define LW_PROCESS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/peer.h"

struct lw_options {
    struct lw_limits limits;
    const char *access_log;     /* NULL: none */
    struct lw_networks trusted; /* proxies */
    bool demands_proxy_header;
    uint32_t unix_mode;   /* 0: not given */
    const char *control;  /* NULL: in the usual folder, see process/run_folder.h */
    const char *pid_file; /* NULL: likewise */
    const char *user;     /* NULL: the one that started it */
    const char *group;    /* NULL: the user's */
    const char *metrics;  /* where scrapes are answered; NULL: nowhere */
    const char *health;   /* a path; NULL: none */
    enum lw_level log_level;
    const char **listens; /* where to listen; owned, the texts belong to main's argv */
    uint32_t listen_count;
    uint32_t workers; /* 0: one per core */
    bool pin_workers;
    bool is_dev;       /* `luaweb dev`: nothing else makes it true */
    bool allow_remote; /* others than this machine may reach that */
    /* For the Lua half: the command, then its arguments, then NULL.  Owned; the texts
     * belong to main's argv. */
    char **argv;
    int argc;
    const char *word;    /* the first of its arguments that is no flag; NULL: none */
    uint32_t word_count; /* how many are none */
    bool wants_help;
    bool wants_version;
};

/* Reads main's arguments.  false: the message for wrong usage was printed (exit 2). */
bool lw_options_read(struct lw_options *options, int argc, char **argv);
void lw_options_free(struct lw_options *options);

/* The page of the command where it has one, else that of the program. */
void lw_options_print_help(const struct lw_options *options);

#endif
