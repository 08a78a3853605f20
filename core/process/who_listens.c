/* SPDX-License-Identifier: MIT
 *
 * Finds the inode of the listening socket in the tables of /proc/net, then the process
 * that has it open; of a master and its workers, which all have, the master. */
#include "process/who_listens.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATE_LISTEN 10 /* TCP_LISTEN, in /proc/net/tcp */

typedef unsigned long long inode_number;

/* An address as the tables write it: 8 or 32 hexadecimal digits, words in the order of
 * the machine.  Empty: a name, then the port alone decides. */
static void write_hex(const struct lw_address *address, char out[33])
{
    uint32_t words[4];
    char host[LW_ADDRESS_HOST];
    snprintf(host, sizeof host, "%s", address->host);
    host[strcspn(host, "%")] = 0; /* the zone */
    out[0] = 0;
    if (inet_pton(AF_INET, host, words) == 1)
        snprintf(out, 33, "%08X", words[0]);
    else if (inet_pton(AF_INET6, host, words) == 1)
        snprintf(out, 33, "%08X%08X%08X%08X", words[0], words[1], words[2], words[3]);
}

static bool is_any(const char *hex)
{
    return hex[strspn(hex, "0")] == 0;
}

/* Whether a socket at `theirs` keeps us from listening at `ours`.  One at an IPv4 address
 * may be written as a mapped one. */
static bool conflicts(const char *theirs, const char *ours)
{
    size_t their_size = strlen(theirs);
    size_t our_size = strlen(ours);
    if (their_size < our_size)
        return false;
    return is_any(theirs) || is_any(ours)
           || strcmp(theirs + their_size - our_size, ours) == 0;
}

static inode_number find_tcp_in(const char *table, const struct lw_address *address)
{
    char line[512];
    char theirs[64];
    char ours[33];
    unsigned port;
    unsigned state;
    inode_number inode;
    inode_number found = 0;
    write_hex(address, ours);
    FILE *file = fopen(table, "re");
    while (file && !found && fgets(line, sizeof line, file))
        if (sscanf(line, " %*d: %63[0-9A-F]:%x %*s %x %*s %*s %*s %*s %*s %llu", theirs,
                   &port, &state, &inode)
                == 4
            && state == STATE_LISTEN && port == (unsigned)address->port
            && conflicts(theirs, ours))
            found = inode;
    if (file)
        fclose(file);
    return found;
}

static inode_number find_unix(const char *path)
{
    char line[512];
    char theirs[256];
    unsigned flags;
    inode_number inode;
    inode_number found = 0;
    FILE *file = fopen("/proc/net/unix", "re");
    while (file && !found && fgets(line, sizeof line, file))
        if (sscanf(line, "%*x: %*x %*x %x %*x %*x %llu %255[^\n]", &flags, &inode,
                   theirs)
                == 3
            && flags == 0x10000 /* it listens */ && strcmp(theirs, path) == 0)
            found = inode;
    if (file)
        fclose(file);
    return found;
}

static inode_number find_inode(const struct lw_address *address)
{
    if (address->path)
        return find_unix(address->path);
    inode_number found = find_tcp_in("/proc/net/tcp", address);
    return found ? found : find_tcp_in("/proc/net/tcp6", address);
}

static bool holds(int pid, inode_number inode)
{
    char path[300];
    char wanted[64];
    char target[64];
    bool is_found = false;
    snprintf(wanted, sizeof wanted, "socket:[%llu]", inode);
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && !is_found && (entry = readdir(folder))) {
        snprintf(path, sizeof path, "/proc/%d/fd/%s", pid, entry->d_name);
        ssize_t size = readlink(path, target, sizeof target - 1);
        target[size < 0 ? 0 : size] = 0;
        is_found = strcmp(target, wanted) == 0;
    }
    if (folder)
        closedir(folder);
    return is_found;
}

/* Some process that holds it; 0: none that we may look at. */
static int find_holder(inode_number inode)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;
    int found = 0;
    while (folder && !found && (entry = readdir(folder))) {
        int pid = atoi(entry->d_name);
        if (pid > 0 && holds(pid, inode))
            found = pid;
    }
    if (folder)
        closedir(folder);
    return found;
}

/* Reads "pid (name) state parent"; a name may hold anything. */
static bool read_stat(int pid, char name[64], int *parent)
{
    char path[64];
    char text[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = 0;
    char *begin = strchr(text, '(');
    char *end = strrchr(text, ')');
    if (!begin || !end || sscanf(end, ") %*c %d", parent) != 1)
        return false;
    snprintf(name, 64, "%.*s", (int)(end - begin - 1), begin + 1);
    return true;
}

bool lw_who_listens(const struct lw_address *address, char *out, size_t room)
{
    char name[64];
    int parent;
    inode_number inode = find_inode(address);
    int pid = inode ? find_holder(inode) : 0;
    if (pid == 0 || !read_stat(pid, name, &parent))
        return false;
    char other[64];
    int above;
    if (holds(parent, inode) && read_stat(parent, other, &above)) {
        snprintf(out, room, "%s (pid %d)", other, parent);
        return true;
    }
    snprintf(out, room, "%s (pid %d)", name, pid);
    return true;
}
