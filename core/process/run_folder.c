/* SPDX-License-Identifier: MIT
 *
 * The names of files of running servers, and the folders for them. */
#include "process/run_folder.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fnv.h"

#define NAME_ROOM 60 /* octets of an address in a name */
#define NAME_KEPT 48 /* of one that is longer, before the number */

/* Copies the folder that a variable names, the first where it names several. */
static bool folder_of(char out[LW_RUN_PATH], const char *variable)
{
    const char *value = getenv(variable);
    if (!value || *value != '/')
        return false;
    size_t size = strcspn(value, ":");
    if (size >= LW_RUN_PATH)
        return false;
    memcpy(out, value, size);
    out[size] = 0;
    return true;
}

/* The user's own, as the XDG specification demands: `sudo -E` leaves it pointing at the
 * folder of another user, who could put a socket of theirs in the place of ours. */
static bool is_own_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid()
           && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

size_t lw_run_folders(char out[LW_RUN_FOLDERS][LW_RUN_PATH])
{
    size_t count = 0;
    if (folder_of(out[count], "RUNTIME_DIRECTORY"))
        count++;
    if (folder_of(out[count], "XDG_RUNTIME_DIR") && is_own_folder(out[count]))
        count++;
    memcpy(out[count], LW_RUN_OURS, sizeof LW_RUN_OURS);
    return count + 1;
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || c == '.' || c == '_';
}

/* Tells long addresses apart whose begin is the same. */
static uint32_t number_of(const char *text)
{
    return (uint32_t)lw_fnv(text, strlen(text));
}

static void write_name(char out[NAME_ROOM + 1], const char *address)
{
    const char *port = strrchr(address, ':');
    size_t size = 0;
    for (const char *c = address; *c && size < NAME_ROOM; c++) {
        if (is_plain(*c) || (*c == ':' && c != port))
            out[size++] = *c;
        else if (*c != '[' && size > 0 && out[size - 1] != '-')
            out[size++] = '-';
    }
    out[size] = 0;
    if (strlen(address) >= NAME_ROOM)
        snprintf(out + NAME_KEPT, NAME_ROOM + 1 - NAME_KEPT, "-%08x",
                 (unsigned)number_of(address));
}

bool lw_run_path(char out[LW_RUN_PATH], const char *folder, const char *address,
                 const char *ending)
{
    char name[NAME_ROOM + 1];
    write_name(name, address);
    int size = snprintf(out, LW_RUN_PATH, "%s/luaweb-%s%s", folder, name, ending);
    return size < LW_RUN_PATH;
}

/* Makes the folder of root's servers; the process's mask must not hide it from
 * others. */
static void make_our_folder(void)
{
    if (geteuid() == 0 && mkdir(LW_RUN_OURS, 0755) == 0)
        chmod(LW_RUN_OURS, 0755);
}

bool lw_run_path_new(char out[LW_RUN_PATH], const char *address, const char *ending)
{
    char folders[LW_RUN_FOLDERS][LW_RUN_PATH];
    size_t count = lw_run_folders(folders);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count)
            make_our_folder();
        if (access(folders[i], W_OK | X_OK) == 0)
            return lw_run_path(out, folders[i], address, ending);
    }
    return false;
}
