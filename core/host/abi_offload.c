/* SPDX-License-Identifier: MIT
 *
 * The bodies of the functions by which Lua offloads functions (base/abi_offload.h): for
 * the rules, see abi.c. */
#include "base/abi_offload.h"
#include "host/offload.h"
#include "host/vm.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT struct luaweb_offload *luaweb_offload_begin(struct luaweb_host *host,
                                                   const char *call, size_t size)
{
    return lw_offload_begin(&host->offloads, call, size);
}

EXPORT uint32_t luaweb_offload_id(struct luaweb_host *host,
                                  const struct luaweb_offload *offload)
{
    (void)host;
    return lw_offload_id(offload);
}

EXPORT int luaweb_offload_result(struct luaweb_host *host,
                                 const struct luaweb_offload *offload,
                                 struct luaweb_slice *answer)
{
    (void)host;
    return lw_offload_result(offload, answer);
}

EXPORT void luaweb_offload_free(struct luaweb_host *host,
                                struct luaweb_offload *offload)
{
    (void)host;
    lw_offload_free(offload);
}

EXPORT uint32_t luaweb_offload_at_once(struct luaweb_host *host)
{
    return host->loop->works.lines[LW_WORK_OFFLOAD].at_once;
}
