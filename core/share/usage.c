/* SPDX-License-Identifier: MIT
 *
 * Reading /proc/PID/stat, whose fields proc(5) numbers, and /proc/PID/fd. */
#include "share/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fields of stat that follow the name, counted from 3. */
enum field {
    STATE = 3,
    USER_TICKS = 14,
    SYSTEM_TICKS = 15,
    THREADS = 20,
    RESIDENT_PAGES = 24
};

static bool read_text(int32_t pid, char *text, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, room - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

static void note(struct lw_usage *usage, int field, double value)
{
    const double tick = (double)sysconf(_SC_CLK_TCK);
    switch (field) {
    case USER_TICKS: usage->cpu_s = value / tick; break;
    case SYSTEM_TICKS: usage->cpu_s += value / tick; break;
    case THREADS: usage->threads = value; break;
    case RESIDENT_PAGES: usage->resident = value * (double)sysconf(_SC_PAGESIZE); break;
    default: break;
    }
}

/* From Linux 6.2 on the folder's size tells; before, its entries are counted. */
static double count_descriptors(int32_t pid)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    if (stat(path, &info) == 0 && info.st_size > 0)
        return (double)info.st_size;
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    double count = 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    closedir(folder);
    return pid == (int32_t)getpid() ? count - 1 : count; /* without the folder's own */
}

bool lw_usage_read(int32_t pid, struct lw_usage *usage)
{
    char text[1024];
    *usage = (struct lw_usage){-1, -1, -1, -1};
    if (pid <= 0 || !read_text(pid, text, sizeof text))
        return false;
    const char *at = strrchr(text, ')'); /* the name may hold anything */
    if (!at || at[1] == 0 || at[2] == 'Z')
        return false;
    at++;
    for (int field = STATE; field <= RESIDENT_PAGES && *at == ' '; field++) {
        note(usage, field, strtod(at + 1, NULL));
        at += 1 + strcspn(at + 1, " ");
    }
    usage->descriptors = count_descriptors(pid);
    return true;
}
