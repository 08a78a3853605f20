/* SPDX-License-Identifier: MIT
 *
 * Help pages of commands that talk to a running server, as `luaweb reload --help` shows
 * them. */
#ifndef LW_PROCESS_PAGES_H
#define LW_PROCESS_PAGES_H

extern const char lw_page_reload[];
extern const char lw_page_stop[];
extern const char lw_page_status[];

#endif
