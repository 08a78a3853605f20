/* SPDX-License-Identifier: MIT
 *
 * What a shared table costs: two processes that read, write and count, and a third that
 * is killed (kill -9) in the middle of writes.  Operations per second, latencies, and
 * the longest that the two had to wait.  The same with LMDB (no sync, writable map, in
 * the file given), where it is installed: the other way that was thought of. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/require.h"
#include "share/table.h"

#if __has_include(<lmdb.h>) && defined(HAS_LMDB)
#    include <lmdb.h>
#endif

enum {
    KEYS = 10000,
    TEXT = 200,  /* octets of a value */
    SLOTS = 400, /* of the histogram: 8 for each doubling, from 16 ns */
    WRITERS = 2
};

static const uint64_t table_size = 64 << 20;

struct result {
    uint64_t count;
    uint64_t longest_ns;
    uint64_t slots[SLOTS];
};

/* A store: what is measured. */
struct store {
    const char *name;
    void (*open)(void);
    void (*get)(struct luaweb_slice key);
    void (*set)(struct luaweb_slice key, struct luaweb_slice text);
    void (*incr)(struct luaweb_slice key);
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Ours ----------------------------------------------------------------------------- */

static void *table_memory;
static struct lw_table *table;

static void table_open(void)
{
    table = lw_table_attach(table_memory, table_size);
}

static void table_get(struct luaweb_slice key)
{
    struct luaweb_shared_value value;
    lw_table_get(table, key, now_ns() / 1000, &value);
}

static void table_set(struct luaweb_slice key, struct luaweb_slice text)
{
    struct luaweb_shared_value value = {.kind = LUAWEB_SHARED_TEXT, .text = text};
    struct lw_write write = {.key = key, .now_us = now_ns() / 1000};
    lw_table_set(table, &write, &value);
}

static void table_incr(struct luaweb_slice key)
{
    double number;
    struct lw_write write = {.key = key, .now_us = now_ns() / 1000};
    lw_table_incr(table, &write, 1, 0, &number);
}

/* LMDB ----------------------------------------------------------------------------- */

#ifdef HAS_LMDB
static const char *lmdb_path;
static MDB_env *env;
static MDB_dbi dbi;
static MDB_txn *reader;

static void must(int error)
{
    if (error) {
        printf("lmdb: %s\n", mdb_strerror(error));
        _exit(1);
    }
}

static void lmdb_open(void)
{
    MDB_txn *txn;
    int error = mdb_env_create(&env);
    error |= mdb_env_set_mapsize(env, table_size);
    error |=
        mdb_env_open(env, lmdb_path,
                     MDB_NOSYNC | MDB_WRITEMAP | MDB_NOSUBDIR | MDB_NOMETASYNC, 0600);
    lw_require(!error);
    error |= mdb_txn_begin(env, NULL, 0, &txn);
    error |= mdb_dbi_open(txn, NULL, 0, &dbi);
    error |= mdb_txn_commit(txn);
    error |= mdb_txn_begin(env, NULL, MDB_RDONLY, &reader);
    lw_require(!error);
    mdb_txn_reset(reader);
}

static MDB_val val(struct luaweb_slice slice)
{
    return (MDB_val){slice.size, (void *)(uintptr_t)slice.data};
}

static void lmdb_get(struct luaweb_slice key)
{
    MDB_val k = val(key);
    MDB_val v;
    static char copy[TEXT];
    mdb_txn_renew(reader);
    if (mdb_get(reader, dbi, &k, &v) == 0)
        memcpy(copy, v.mv_data, v.mv_size);
    mdb_txn_reset(reader);
}

static void lmdb_set(struct luaweb_slice key, struct luaweb_slice text)
{
    MDB_txn *txn;
    MDB_val k = val(key);
    MDB_val v = val(text);
    must(mdb_txn_begin(env, NULL, 0, &txn));
    must(mdb_put(txn, dbi, &k, &v, 0));
    must(mdb_txn_commit(txn));
}

static void lmdb_incr(struct luaweb_slice key)
{
    MDB_txn *txn;
    MDB_val k = val(key);
    MDB_val v;
    double number = 0;
    must(mdb_txn_begin(env, NULL, 0, &txn));
    if (mdb_get(txn, dbi, &k, &v) == 0)
        memcpy(&number, v.mv_data, sizeof number);
    number++;
    v = (MDB_val){sizeof number, &number};
    must(mdb_put(txn, dbi, &k, &v, 0));
    must(mdb_txn_commit(txn));
}
#endif

/* Measuring ------------------------------------------------------------------------ */

static uint32_t slot_of(uint64_t ns)
{
    uint32_t bits = 0;
    while (ns >> bits > 15)
        bits++;
    uint32_t slot = bits * 8 + (uint32_t)(ns >> bits) % 8;
    return slot < SLOTS ? slot : SLOTS - 1;
}

static double slot_us(uint32_t slot)
{
    return (double)((8 + slot % 8) << slot / 8) / 1000;
}

/* Six reads, three writes and a count in ten. */
static void once(const struct store *store, uint64_t *random)
{
    static const char text[TEXT] = "some text";
    char key[32];
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    uint32_t what = (uint32_t)(*random >> 33);
    struct luaweb_slice k = {key, 0};
    k.size = (size_t)snprintf(key, sizeof key, "%s:%u", what % 10 == 9 ? "n" : "key",
                              what / 10 % KEYS);
    if (what % 10 < 6)
        store->get(k);
    else if (what % 10 < 9)
        store->set(k, lw_slice(text, TEXT));
    else
        store->incr(k);
}

static void work(const struct store *store, double seconds, struct result *result)
{
    uint64_t random = (uint64_t)getpid();
    store->open();
    uint64_t stop = now_ns() + (uint64_t)(seconds * 1e9);
    for (uint64_t at = now_ns(), next; at < stop; at = next) {
        once(store, &random);
        next = now_ns();
        result->slots[slot_of(next - at)]++;
        result->count++;
        if (next - at > result->longest_ns)
            result->longest_ns = next - at;
    }
}

static pid_t start(const struct store *store, double seconds, struct result *result)
{
    pid_t pid = fork();
    lw_require(pid >= 0);
    if (pid == 0) {
        work(store, seconds, result);
        _exit(0);
    }
    return pid;
}

/* Kills a third writer each few milliseconds until the others are done. */
static int kill_writers(const struct store *store, double seconds,
                        struct result *unwatched)
{
    int deaths = 0;
    uint64_t stop = now_ns() + (uint64_t)(seconds * 1e9);
    while (now_ns() < stop) {
        pid_t pid = start(store, 1000, unwatched);
        usleep(3000 + (useconds_t)deaths % 7 * 300);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        deaths++;
    }
    return deaths;
}

static double at_part(const struct result *all, double part)
{
    double left = (double)all->count * part;
    uint32_t slot = 0;
    for (; slot + 1 < SLOTS && left > (double)all->slots[slot]; slot++)
        left -= (double)all->slots[slot];
    return slot_us(slot);
}

static void measure(const struct store *store, double seconds, bool wants_deaths)
{
    struct result *results =
        mmap(NULL, sizeof *results * (WRITERS + 2), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    lw_require(results != MAP_FAILED);
    struct result *all = &results[WRITERS];
    pid_t pids[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        pids[i] = start(store, seconds, &results[i]);
    int deaths = wants_deaths ? kill_writers(store, seconds, &results[WRITERS + 1]) : 0;
    for (int i = 0; i < WRITERS; i++) {
        int status;
        waitpid(pids[i], &status, 0);
        if (status != 0)
            printf("a writer failed: %d\n", status);
        all->count += results[i].count;
        for (uint32_t j = 0; j < SLOTS; j++)
            all->slots[j] += results[i].slots[j];
        if (results[i].longest_ns > all->longest_ns)
            all->longest_ns = results[i].longest_ns;
    }
    printf("%-6s %7.0f k/s  50 %% %6.2f us  99 %% %6.2f us  99.9 %% %7.2f us  "
           "99.99 %% %8.1f us  longest %6.1f ms  %d deaths\n",
           store->name, (double)all->count / seconds / 1e3, at_part(all, 0.5),
           at_part(all, 0.99), at_part(all, 0.999), at_part(all, 0.9999),
           (double)all->longest_ns / 1e6, deaths);
    munmap(results, sizeof *results * (WRITERS + 2));
}

int main(int argc, char **argv)
{
    const struct store ours = {"table", table_open, table_get, table_set, table_incr};
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    table_memory = mmap(NULL, table_size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    lw_require(table_memory != MAP_FAILED);
    lw_table_begin(table_memory, table_size);
    setvbuf(stdout, NULL, _IONBF, 0);
    measure(&ours, seconds, false);
    measure(&ours, seconds, true);
    table_open();
    const char *wrong = lw_table_check(table);
    printf("table  %s\n", wrong ? wrong : "is whole");
#ifdef HAS_LMDB
    const struct store lmdb = {"lmdb", lmdb_open, lmdb_get, lmdb_set, lmdb_incr};
    lmdb_path = argc > 2 ? argv[2] : "/dev/shm/luaweb-bench.lmdb";
    measure(&lmdb, seconds, false);
    measure(&lmdb, seconds, true);
    unlink(lmdb_path);
#endif
    return wrong ? 1 : 0;
}
