/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions for tables that workers share (base/abi_shared.h): for
 * the rules, see abi.c. */
#include "base/abi_shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/limits.h"
#include "base/require.h"
#include "base/slice.h"
#include "host/vm.h"
#include "net/request.h"
#include "share/table.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    LIST_ROOM = 16384 /* octets of keys at a time */
};

static struct lw_table *table_of(struct luaweb_shared *table)
{
    return (struct lw_table *)table;
}

static uint64_t now_us(void)
{
    return uv_hrtime() / 1000;
}

EXPORT struct luaweb_shared *luaweb_shared_open(struct luaweb_host *host,
                                                const char *name, double size)
{
    (void)host;
    return (struct luaweb_shared *)lw_table_open(name, (uint64_t)size);
}

EXPORT int luaweb_shared_get(struct luaweb_host *host, struct luaweb_shared *table,
                             const char *key, size_t key_size,
                             struct luaweb_shared_value *value)
{
    (void)host;
    return lw_table_get(table_of(table), lw_slice(key, key_size), now_us(), value);
}

static struct lw_write write_of(const struct luaweb_shared_write *write)
{
    uint64_t now = now_us();
    uint64_t lives_us = (uint64_t)ceil(write->seconds * 1e6);
    return (struct lw_write){
        .key = lw_slice(write->key, write->key_size),
        .now_us = now,
        .expires_us = lives_us ? now + lives_us : 0,
    };
}

EXPORT int luaweb_shared_write(struct luaweb_host *host, struct luaweb_shared *table,
                               const struct luaweb_shared_write *write)
{
    (void)host;
    const struct lw_write how = write_of(write);
    switch (write->how) {
    case LUAWEB_SHARED_SET: return lw_table_set(table_of(table), &how, &write->value);
    case LUAWEB_SHARED_ADD: return lw_table_add(table_of(table), &how, &write->value);
    default:
        return lw_table_compare_and_set(table_of(table), &how, &write->expected,
                                        &write->value);
    }
}

EXPORT int luaweb_shared_incr(struct luaweb_host *host, struct luaweb_shared *table,
                              struct luaweb_shared_write *write, double by,
                              double start)
{
    (void)host;
    const struct lw_write how = write_of(write);
    return lw_table_incr(table_of(table), &how, by, start, &write->value.number);
}

EXPORT int luaweb_shared_delete(struct luaweb_host *host, struct luaweb_shared *table,
                                const char *key, size_t key_size)
{
    (void)host;
    return lw_table_delete(table_of(table), lw_slice(key, key_size), now_us());
}

EXPORT int luaweb_shared_keys(struct luaweb_host *host, struct luaweb_shared *table,
                              struct luaweb_shared_keys *keys)
{
    struct lw_listing listing = {
        .cursor = (uint64_t)keys->cursor,
        .prefix = lw_slice(keys->prefix, keys->prefix_size),
        .now_us = now_us(),
        .into = lw_host_scratch(host, LIST_ROOM),
        .room = LIST_ROOM,
    };
    int result = lw_table_keys(table_of(table), &listing);
    keys->cursor = (double)listing.cursor;
    keys->keys = lw_slice(listing.into, listing.size);
    return result;
}

EXPORT void luaweb_shared_stats(struct luaweb_host *host, struct luaweb_shared *table,
                                struct luaweb_shared_stats *stats)
{
    struct lw_table_stats all;
    (void)host;
    lw_table_stats(table_of(table), &all);
    *stats = (struct luaweb_shared_stats){
        .size = (double)all.size,
        .capacity = (double)all.capacity,
        .used = (double)all.used,
        .max_value = (double)all.max_value,
        .count = (double)all.count,
        .hits = (double)all.hits,
        .misses = (double)all.misses,
        .writes = (double)all.writes,
        .evictions = (double)all.evictions,
        .expired = (double)all.expired,
        .repairs = (double)all.repairs,
        .resets = (double)all.resets,
        .busy = (double)all.busy,
    };
}

/* Rates ---------------------------------------------------------------------------- */

static void add_field(struct lw_request *request, struct luaweb_slice name,
                      const char *text, size_t size)
{
    lw_request_field(request, name, lw_slice(text, size), LW_MAX_RESPONSE_HEAD);
}

/* Whole seconds, rounded up: to a microsecond, less is what doubles have lost.  What is
 * more than anybody waits (a century) is that. */
static unsigned whole(double seconds)
{
    static const double most = 3155760000;
    return seconds > 0 ? (unsigned)fmin(ceil(seconds - 1e-6), most) : 0;
}

/* draft-ietf-httpapi-ratelimit-headers-10, 4 (RateLimit) and 3 (RateLimit-Policy);
 * RFC 6585 4 for Retry-After. */
static void tell(struct lw_request *request, const struct luaweb_rate_policy *policy,
                 const struct lw_rate_state *state, bool is_refused)
{
    char text[160];
    unsigned left = is_refused ? 0 : (unsigned)(state->left + 1e-6);
    int size = snprintf(text, sizeof text, "%.79s;r=%u;t=%u", policy->label, left,
                        whole(state->full_s));
    add_field(request, LW_SLICE("RateLimit"), text, (size_t)size);
    if (!is_refused)
        return;
    size = snprintf(text, sizeof text, "%.79s;q=%.0f;w=%u", policy->label,
                    policy->burst, whole(policy->burst / policy->per_second));
    add_field(request, LW_SLICE("RateLimit-Policy"), text, (size_t)size);
    unsigned retry_s = whole(state->retry_s);
    size = snprintf(text, sizeof text, "%u", retry_s ? retry_s : 1);
    add_field(request, LW_SLICE("Retry-After"), text, (size_t)size);
}

EXPORT bool luaweb_rate_limit(struct luaweb_host *host, struct luaweb_request *facts,
                              uint32_t generation,
                              const struct luaweb_rate_policy *policy, const char *key,
                              size_t key_size)
{
    char name[LUAWEB_RATE_MAX_KEY + 16];
    struct lw_rate_state state;
    struct lw_request *request = lw_request_of(facts, generation);
    struct luaweb_slice whose = key ? lw_slice(key, key_size) : facts->peer;
    (void)host;
    if (!request)
        return true;
    lw_require(whose.size <= LUAWEB_RATE_MAX_KEY);
    int size = snprintf(name, sizeof name, "%u ", (unsigned)policy->number);
    memcpy(name + size, whose.data, whose.size);
    const struct lw_rate rate = {1e6 / policy->per_second, policy->burst};
    int result = lw_table_take(table_of(policy->table),
                               lw_slice(name, (size_t)size + whose.size), now_us(),
                               &rate, &state);
    if (result == LUAWEB_SHARED_BUSY)
        return true; /* rather than refuse all because one process stands still */
    tell(request, policy, &state, result != LUAWEB_SHARED_DONE);
    return result == LUAWEB_SHARED_DONE;
}
