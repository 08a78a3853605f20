/* SPDX-License-Identifier: MIT
 *
 * Watches files and folders for changes (inotify, through libuv), while an app is
 * developed.  Folders are what is watched, never the files in them: so files that an
 * editor replaces by renaming, new files, and folders that are deleted and made again
 * are seen.  A burst of changes is told once, soon after the last of them. */
#ifndef LW_NET_WATCH_H
#define LW_NET_WATCH_H

#include <uv.h>

/* What of a folder counts, beside files that were added by their names. */
enum lw_watch_kind {
    LW_WATCH_FILE,    /* the path is that of a file; it need not be there */
    LW_WATCH_SOURCES, /* a folder: what apps are written in, by suffix, also below it */
    LW_WATCH_FOLDER   /* a folder: all in it, also below it */
};

struct lw_watch;

/* Tells `changed` the path that has changed first (lent for the call). */
struct lw_watch *lw_watch_open(uv_loop_t *uv,
                               void (*changed)(void *context, const char *path),
                               void *context);

/* Watches a path as well; nothing happens where it is watched already.  Hidden files
 * and folders count only where they were added by their names, node_modules and
 * lua_modules, and what lies deeper than some folders, not at all.  0, or a libuv error:
 * UV_ENAMETOOLONG, or UV_EMFILE where there are too many (said once in the log). */
int lw_watch_add(struct lw_watch *watch, const char *path, enum lw_watch_kind kind);

/* Frees; in front of the end of the loop, which may run. */
void lw_watch_close(struct lw_watch *watch);

#endif
