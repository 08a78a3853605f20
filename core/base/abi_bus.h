/* SPDX-License-Identifier: MIT
 *
 * The border between C and Lua: what the workers of one server do together.  For the
 * rules, see abi.h.
 */

#ifndef LW_BASE_ABI_BUS_H
#define LW_BASE_ABI_BUS_H

#include "base/abi.h"

/* Sends a text to the other workers, and to other generations in this one, where somebody
 * has subscribed to the topic.  false: it is lost, since another worker stood still while
 * it wrote. */
bool luaweb_bus_publish(struct luaweb_host *host, const char *topic, size_t topic_size,
                        const char *text, size_t size);

/* From now on texts of this topic are wanted, or no longer. */
void luaweb_bus_want(struct luaweb_host *host, const char *topic, size_t size,
                     bool is_wanted);

/* The id that is woken when there may be texts; the first call also begins to keep them:
 * what was published before is not seen.  UINT32_MAX: there is no shared memory. */
uint32_t luaweb_bus_id(struct luaweb_host *host);

/* The next text that others have published, lent until the next call. */
enum luaweb_bus_result {
    LUAWEB_BUS_NONE,
    LUAWEB_BUS_TEXT,
    LUAWEB_BUS_LOST /* this worker was too slow: some are gone */
};
int luaweb_bus_next(struct luaweb_host *host, struct luaweb_slice *topic,
                    struct luaweb_slice *text);

/* What one worker of all may do, by name: the number of the duty, or -1: there are too
 * many. */
int luaweb_duty(struct luaweb_host *host, const char *name, size_t size);

/* Takes it: true where this Lua state has it, now or already.  It keeps it until it gives
 * it back, or ends. */
bool luaweb_duty_take(struct luaweb_host *host, int duty);
void luaweb_duty_give(struct luaweb_host *host, int duty);

/* Seconds since it was last done, by whomever; infinite: never.  For who has it; the
 * second notes that it is done now. */
double luaweb_duty_since(struct luaweb_host *host, int duty);
void luaweb_duty_note(struct luaweb_host *host, int duty);

#endif
