/* SPDX-License-Identifier: MIT
 *
 * Places: one for every folder that is watched, kept when it is deleted, since it may
 * come back: the folder above it, which is watched for its name, tells. */
#include "net/watch.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/require.h"

#define QUIET_MS     20   /* without a change, after which a burst is over */
#define MOST_MS      300  /* from the first change of a burst until it is told */
#define MOST_PLACES  1024 /* folders */
#define MOST_NAMES   1024 /* files that were added by their names, in one folder */
#define MOST_DEPTH   12   /* of folders below one that was added */
#define MOST_ENTRIES 4096 /* of a folder that are looked at */

struct place {
    uv_fs_event_t event;
    struct lw_watch *watch; /* borrowed, until both are closed */
    struct place *next;
    char *path;              /* owned */
    char **names;            /* owned, as they are: of files and folders that count */
    uint32_t name_count;     /* of those */
    enum lw_watch_kind kind; /* of what counts beside them; FILE: nothing */
    int depth;               /* below the folder that was added */
};

struct lw_watch {
    uv_loop_t *uv;
    uv_timer_t quiet;
    void (*changed)(void *context, const char *path);
    void *context;
    struct place *places; /* owned */
    uint32_t place_count;
    uint64_t first_ms;   /* of the burst */
    char path[PATH_MAX]; /* of its first change; "": there is none */
    bool has_said_full;
};

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(lw_alloc(size), text, size);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* false: it would be too long. */
static bool join(char out[PATH_MAX], const char *folder, const char *name)
{
    const char *between = folder[strlen(folder) - 1] == '/' ? "" : "/";
    int n = snprintf(out, PATH_MAX, "%s%s%s", folder, between, name);
    return n > 0 && n < PATH_MAX;
}

/* The folder that something lies in, and its name there. */
static const char *split(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) : 1;
    memcpy(folder, slash ? path : ".", size);
    if (slash == path)
        folder[size++] = '/';
    folder[size] = 0;
    return slash ? slash + 1 : path;
}

/* What apps are written in.  Not what they write: data bases, logs, JSON. */
static bool is_source(const char *name)
{
    static const char suffixes[] =
        " lua html htm css js mjs svg png jpg jpeg gif webp ico woff2 txt md xml"
        " webmanifest etlua mustache tpl ";
    const char *dot = strrchr(name, '.');
    char wanted[20];
    int n = dot ? snprintf(wanted, sizeof wanted, " %s ", dot + 1) : -1;
    return n > 0 && (size_t)n < sizeof wanted && strstr(suffixes, wanted) != NULL;
}

/* Files that editors leave for a while. */
static bool is_passing(const char *name)
{
    size_t size = strlen(name);
    return name[0] == '#' || name[size - 1] == '~' || strcmp(name, "4913") == 0;
}

static bool is_named(const struct place *place, const char *name)
{
    for (uint32_t i = 0; i < place->name_count; i++)
        if (strcmp(place->names[i], name) == 0)
            return true;
    return false;
}

static bool counts(const struct place *place, const char *name)
{
    if (is_named(place, name))
        return true;
    if (place->kind == LW_WATCH_FILE || name[0] == '.' || is_passing(name))
        return false;
    return place->kind == LW_WATCH_FOLDER || is_source(name);
}

static bool goes_below(const struct place *place, const char *name)
{
    return place->kind != LW_WATCH_FILE && place->depth < MOST_DEPTH && name[0] != '.'
           && strcmp(name, "node_modules") != 0 && strcmp(name, "lua_modules") != 0;
}

static void on_quiet(uv_timer_t *timer)
{
    struct lw_watch *watch = timer->data;
    char path[PATH_MAX];
    memcpy(path, watch->path, sizeof path);
    watch->path[0] = 0;
    watch->changed(watch->context, path);
}

static void note(struct lw_watch *watch, const char *path)
{
    uint64_t now = uv_now(watch->uv);
    if (watch->path[0] == 0) {
        snprintf(watch->path, sizeof watch->path, "%s", path);
        watch->first_ms = now;
    }
    uint64_t most = watch->first_ms + MOST_MS;
    uint64_t left = most > now ? most - now : 0;
    uv_timer_start(&watch->quiet, on_quiet, left < QUIET_MS ? left : QUIET_MS, 0);
}

static void on_event(uv_fs_event_t *event, const char *name, int events, int status);

static void say_full(struct lw_watch *watch, const char *path, const char *why)
{
    if (!watch->has_said_full)
        lw_log(LW_LOG_WARN, "can't watch %s, nor more folders: %s", path, why);
    watch->has_said_full = true;
}

/* Anew, where it is watched already: another folder may be there now. */
static void start(struct place *place)
{
    uv_fs_event_stop(&place->event);
    int error = uv_fs_event_start(&place->event, on_event, place->path, 0);
    if (error == UV_ENOSPC || error == UV_EMFILE)
        say_full(place->watch, place->path,
                 "see fs.inotify.max_user_watches and max_user_instances");
}

static struct place *find(const struct lw_watch *watch, const char *path)
{
    struct place *place = watch->places;
    while (place && strcmp(place->path, path) != 0)
        place = place->next;
    return place;
}

/* The place of a folder, which need not be there.  NULL: there are too many. */
static struct place *place_of(struct lw_watch *watch, const char *path)
{
    struct place *place = find(watch, path);
    if (place)
        return place;
    if (watch->place_count == MOST_PLACES) {
        say_full(watch, path, "these are 1024");
        return NULL;
    }
    place = lw_alloc(sizeof *place);
    memset(place, 0, sizeof *place);
    place->watch = watch;
    place->path = copy(path);
    place->next = watch->places;
    watch->places = place;
    watch->place_count++;
    uv_fs_event_init(watch->uv, &place->event);
    place->event.data = place;
    start(place);
    return place;
}

static bool watch_below(struct place *above, const char *path, bool is_new);

/* Looks at what a folder has: watches the folders below it.  Gives whether there is a
 * file that counts. */
static bool scan(struct place *place, bool is_new)
{
    bool has_some = false;
    char path[PATH_MAX];
    DIR *folder = opendir(place->path);
    struct dirent *entry = folder ? readdir(folder) : NULL;
    for (int i = 0; entry && i < MOST_ENTRIES; i++, entry = readdir(folder)) {
        bool may_be_folder = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
        if (may_be_folder && goes_below(place, entry->d_name)
            && join(path, place->path, entry->d_name) && is_folder(path))
            has_some = watch_below(place, path, is_new) || has_some;
        else if (entry->d_type != DT_DIR)
            has_some = has_some || counts(place, entry->d_name);
    }
    if (folder)
        closedir(folder);
    return has_some;
}

/* Likewise of one folder below; `is_new`: whatever was there before is not. */
static bool watch_below(struct place *above, const char *path, bool is_new)
{
    struct place *place = place_of(above->watch, path);
    if (!place)
        return false;
    if (is_new)
        start(place);
    if (place->kind < above->kind) {
        place->kind = above->kind;
        place->depth = above->depth + 1;
    }
    return scan(place, is_new);
}

/* A folder is there, or there again. */
static void on_folder(struct place *above, const char *path, const char *name)
{
    struct place *place = find(above->watch, path);
    bool has_some = false;
    if (place) {
        start(place);
        has_some = place->name_count > 0 || place->kind != LW_WATCH_FILE;
        has_some = (has_some && scan(place, true)) || place->name_count > 0;
    } else if (goes_below(above, name)) {
        has_some = watch_below(above, path, true);
    }
    if (has_some)
        note(above->watch, path);
}

static void on_event(uv_fs_event_t *event, const char *name, int events, int status)
{
    struct place *place = event->data;
    char path[PATH_MAX];
    (void)events;
    if (status < 0 || !name || !join(path, place->path, name))
        return;
    if (is_folder(path))
        on_folder(place, path, name);
    else if (counts(place, name))
        note(place->watch, path);
}

struct lw_watch *lw_watch_open(uv_loop_t *uv,
                               void (*changed)(void *context, const char *path),
                               void *context)
{
    struct lw_watch *watch = lw_alloc(sizeof *watch);
    memset(watch, 0, sizeof *watch);
    watch->uv = uv;
    watch->changed = changed;
    watch->context = context;
    uv_timer_init(uv, &watch->quiet);
    watch->quiet.data = watch;
    return watch;
}

static int add_name(struct place *place, const char *name)
{
    if (is_named(place, name))
        return 0;
    if (place->name_count == MOST_NAMES)
        return UV_EMFILE;
    size_t size = (place->name_count + 1) * sizeof *place->names;
    place->names = lw_realloc(place->names, size);
    place->names[place->name_count++] = copy(name);
    return 0;
}

/* Has the folder above tell when this one is there. */
static int watch_name(struct lw_watch *watch, const char *path)
{
    char folder[PATH_MAX];
    const char *name = split(path, folder);
    struct place *place = place_of(watch, folder);
    return place ? add_name(place, name) : UV_EMFILE;
}

/* Without slashes at its end. */
static bool trim(char out[PATH_MAX], const char *path)
{
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    if (size == 0 || size >= PATH_MAX)
        return false;
    memcpy(out, path, size);
    out[size] = 0;
    return true;
}

int lw_watch_add(struct lw_watch *watch, const char *path, enum lw_watch_kind kind)
{
    char own[PATH_MAX];
    char folder[PATH_MAX];
    if (!trim(own, path))
        return UV_ENAMETOOLONG;
    if (kind == LW_WATCH_FILE) {
        split(own, folder);
        int error = watch_name(watch, own);
        return error || strcmp(folder, ".") == 0 || strcmp(folder, "/") == 0
                   ? error
                   : watch_name(watch, folder);
    }
    struct place *place = place_of(watch, own);
    if (!place)
        return UV_EMFILE;
    if (place->kind < kind) {
        place->kind = kind;
        place->depth = 0;
        scan(place, false);
    }
    return strcmp(own, ".") == 0 || strcmp(own, "/") == 0 ? 0 : watch_name(watch, own);
}

static void on_place_closed(uv_handle_t *handle)
{
    struct place *place = handle->data;
    for (uint32_t i = 0; i < place->name_count; i++)
        free(place->names[i]);
    free(place->names);
    free(place->path);
    free(place);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void lw_watch_close(struct lw_watch *watch)
{
    for (struct place *place = watch->places; place; place = place->next)
        uv_close((uv_handle_t *)&place->event, on_place_closed);
    uv_close((uv_handle_t *)&watch->quiet, on_closed);
}
