/* SPDX-License-Identifier: MIT
 *
 * Slices become places in the lines, and slices again. */
#include "http/memo.h"

#include <string.h>

#include "base/slice.h"

bool lw_memo_begins(const struct lw_head_memo *memo, struct luaweb_slice octets)
{
    return memo->size > 0 && octets.size >= memo->size
           && memcmp(octets.data, memo->lines, memo->size) == 0;
}

static struct lw_memo_part part_of(struct luaweb_slice slice, const char *lines)
{
    struct lw_memo_part part = {0, (uint16_t)slice.size};
    if (slice.size > 0)
        part.at = (uint16_t)(slice.data - lines);
    return part;
}

static struct luaweb_slice slice_of(struct lw_memo_part part, const char *lines)
{
    return lw_slice(lines + part.at, part.size);
}

void lw_memo_keep(struct lw_head_memo *memo, const struct lw_head *head,
                  struct luaweb_slice lines)
{
    memo->size = 0;
    if (lines.size > LW_MEMO_SIZE || head->field_count > LW_MEMO_FIELDS
        || head->framing != LW_FRAMING_NONE || head->expects_continue
        || head->parts.authority.size > 0)
        return;
    for (uint32_t i = 0; i < head->field_count; i++) {
        memo->names[i] = part_of(head->fields[i].name, lines.data);
        memo->values[i] = part_of(head->fields[i].value, lines.data);
    }
    memcpy(memo->lines, lines.data, lines.size);
    memo->size = (uint32_t)lines.size;
    memo->field_count = head->field_count;
    memo->present = head->present;
    memo->minor_version = head->minor_version;
    memo->keep_alive = head->keep_alive;
    memo->host = part_of(head->host, lines.data);
}

bool lw_memo_recall(const struct lw_head_memo *memo, struct lw_head *head,
                    const char *lines)
{
    if (memo->minor_version != head->minor_version
        || memo->field_count > head->field_capacity)
        return false;
    for (uint32_t i = 0; i < memo->field_count; i++) {
        head->fields[i].name = slice_of(memo->names[i], lines);
        head->fields[i].value = slice_of(memo->values[i], lines);
    }
    head->field_count = memo->field_count;
    head->present = memo->present;
    head->keep_alive = memo->keep_alive;
    head->host = head->parts.authority.size > 0 ? head->parts.authority
                                                : slice_of(memo->host, lines);
    return true;
}
