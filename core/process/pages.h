/* SPDX-License-Identifier: MIT
 *
 * The help pages of commands, as `luaweb reload --help` shows them. */
#ifndef LW_PROCESS_PAGES_H
#define LW_PROCESS_PAGES_H

extern const char lw_page_test[];
extern const char lw_page_routes[];
extern const char lw_page_explain[];
extern const char lw_page_check[];
extern const char lw_page_reload[];
extern const char lw_page_stop[];
extern const char lw_page_status[];

#endif
