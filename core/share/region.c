/* SPDX-License-Identifier: MIT
 *
 * Regions: a directory at the memfd's front names what is where behind it.  The file is
 * sparse: an address in it costs nothing until somebody touches its page.
 *
 * The directory only grows, and an entry counts when `count` says so, which is stored
 * last: a process that dies anywhere in between leaves a directory that is whole. */
#include "share/region.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/require.h"
#include "share/robust.h"

enum {
    NAME_SIZE = 104, /* with the NUL */
    MAX_REGIONS = 1024,
    WAIT_MS = 2000 /* for a process that was stopped while it held the lock */
};

static const char magic[16] = "luaweb share 1";
static const uint64_t largest = (uint64_t)64 << 30;
static const uint64_t smallest = (uint64_t)64 << 20;

struct entry {
    char name[NAME_SIZE];
    uint64_t size; /* as it was asked for */
    uint64_t offset;
};

struct directory {
    char magic[16];
    pthread_mutex_t lock;
    uint64_t used;  /* octets from the front, whole pages */
    uint64_t total; /* octets of the file */
    uint32_t count;
    struct entry list[MAX_REGIONS];
};

/* A region that this process has mapped. */
struct mapped {
    void *memory;
    size_t size;
    char name[NAME_SIZE];
};

/* The one state of the layer: what is shared is shared by the whole process. */
static struct {
    int fd;
    struct directory *directory;
    struct mapped list[MAX_REGIONS]; /* as many as there can be */
    uint32_t count;
} share = {.fd = -1};

static uint64_t whole_pages(uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

static void *map(int fd, uint64_t size, uint64_t offset)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                        fd, (off_t)offset);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Gives the file a size, less where the process may not have files so large: to try it
 * would be a signal.  The size, or a negative errno. */
static int64_t stretch(int fd)
{
    struct rlimit limit;
    uint64_t size = largest;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size)
        size = limit.rlim_cur / smallest * smallest;
    for (; size >= smallest; size /= 2) {
        if (ftruncate(fd, (off_t)size) == 0)
            return (int64_t)size;
        if (errno != EFBIG && errno != EINVAL && errno != EOVERFLOW)
            return -errno;
    }
    return -EFBIG;
}

static int begin_directory(int fd, uint64_t total)
{
    struct directory *directory = map(fd, sizeof(struct directory), 0);
    if (!directory)
        return -errno;
    int error = lw_robust_begin(&directory->lock);
    directory->used = whole_pages(sizeof(struct directory));
    directory->total = total;
    memcpy(directory->magic, magic, sizeof magic);
    munmap(directory, sizeof(struct directory));
    return error;
}

int lw_share_create(void)
{
    int fd = memfd_create("luaweb", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    int64_t total = stretch(fd);
    int error = total < 0 ? (int)total : begin_directory(fd, (uint64_t)total);
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

/* Takes fd. */
static bool open_taken(int fd)
{
    struct directory *directory = map(fd, sizeof(struct directory), 0);
    int error = errno;
    if (directory && lseek(fd, 0, SEEK_END) >= (off_t)sizeof(struct directory)
        && memcmp(directory->magic, magic, sizeof magic) == 0) {
        share.fd = fd;
        share.directory = directory;
        return true;
    }
    if (directory) { /* another layout, of another version of this program */
        munmap(directory, sizeof(struct directory));
        error = EPROTO;
    }
    close(fd);
    errno = error;
    return false;
}

bool lw_share_open(int fd)
{
    lw_require(!share.directory);
    int own = fd < 0 ? lw_share_create() : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own >= 0)
        return open_taken(own);
    if (fd < 0)
        errno = -own;
    return false;
}

static bool lock_directory(pthread_mutex_t *lock)
{
    enum lw_robust_result result = lw_robust_take(lock, WAIT_MS);
    if (result == LW_ROBUST_INHERITED)
        lw_robust_repaired(lock); /* there is nothing to repair */
    return result != LW_ROBUST_BUSY;
}

static void *remember(const char *name, size_t size, void *memory)
{
    lw_require(share.count < MAX_REGIONS);
    struct mapped *mapped = &share.list[share.count++];
    *mapped = (struct mapped){.memory = memory, .size = size};
    memcpy(mapped->name, name, strlen(name) + 1);
    return memory;
}

static const struct entry *find(const struct directory *directory, const char *name,
                                size_t size)
{
    for (uint32_t i = 0; i < directory->count; i++) {
        const struct entry *entry = &directory->list[i];
        if (entry->size == size && strcmp(entry->name, name) == 0)
            return entry;
    }
    return NULL;
}

/* A death before the last store costs addresses at most: whoever comes next begins
 * again, behind. */
static void *add(struct directory *directory, const char *name, size_t size,
                 void (*begin)(void *memory, size_t size))
{
    uint64_t offset = directory->used;
    if (directory->count == MAX_REGIONS
        || whole_pages(size) > directory->total - offset)
        return NULL;
    directory->used += whole_pages(size);
    void *memory = map(share.fd, whole_pages(size), offset);
    if (!memory)
        return NULL;
    if (begin)
        begin(memory, size);
    struct entry *entry = &directory->list[directory->count];
    memcpy(entry->name, name, strlen(name) + 1);
    entry->size = size;
    entry->offset = offset;
    __atomic_store_n(&directory->count, directory->count + 1, __ATOMIC_RELEASE);
    return memory;
}

void *lw_share_region_begun(const char *name, size_t size,
                            void (*begin)(void *memory, size_t size))
{
    lw_require(size > 0 && strlen(name) < NAME_SIZE);
    for (uint32_t i = 0; i < share.count; i++) {
        const struct mapped *at = &share.list[i];
        if (at->size == size && strcmp(at->name, name) == 0)
            return at->memory;
    }
    struct directory *directory = share.directory;
    if (!directory || size > largest || !lock_directory(&directory->lock))
        return NULL;
    const struct entry *entry = find(directory, name, size);
    void *memory = entry ? map(share.fd, whole_pages(size), entry->offset)
                         : add(directory, name, size, begin);
    lw_robust_give(&directory->lock);
    return memory ? remember(name, size, memory) : NULL;
}

void *lw_share_region(const char *name, size_t size)
{
    return lw_share_region_begun(name, size, NULL);
}
