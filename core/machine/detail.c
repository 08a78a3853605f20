/* SPDX-License-Identifier: MIT
 *
 * Details of refusals, by row. */
#include "machine/detail.h"

#include <stdio.h>
#include <string.h>

#include "base/slice.h"
#include "machine/answers.h"

#define MOST 400 /* octets; a body is short */

/* Rows that refuse where nothing of a list is acceptable. */
static const struct {
    int (*answer)(struct lw_walk *walk);
    enum luaweb_property offers;
    const char *what;
} choices[] = {
    {lw_answer_media_type_offered, LUAWEB_AVAILABLE_MEDIA_TYPES,     "media types"    },
    {lw_answer_language_offered,   LUAWEB_AVAILABLE_LANGUAGES,       "languages"      },
    {lw_answer_charset_offered,    LUAWEB_AVAILABLE_CHARSETS,        "charsets"       },
    {lw_answer_coding_offered,     LUAWEB_AVAILABLE_CONTENT_CODINGS, "content codings"},
};

/* "the media types are text/html, application/json" */
static struct luaweb_slice offers(struct lw_walk *walk, enum luaweb_property property,
                                  const char *what)
{
    struct lw_list list;
    char *text = lw_arena_alloc(walk->arena, MOST);
    int size = snprintf(text, MOST, "the %s are", what);
    if (!lw_walk_list(walk, property, &list) || size < 0)
        return lw_slice("", 0);
    size_t at = (size_t)size;
    for (uint32_t i = 0; i < list.count; i++) {
        if (at + list.items[i].size + 2 > MOST)
            break;
        text[at++] = i > 0 ? ',' : ' ';
        if (i > 0)
            text[at++] = ' ';
        memcpy(text + at, list.items[i].data, list.items[i].size);
        at += list.items[i].size;
    }
    return lw_slice(text, at);
}

static struct luaweb_slice limit(struct lw_walk *walk)
{
    char *text = lw_arena_alloc(walk->arena, 64);
    int size = snprintf(text, 64, "at most %llu octets are taken",
                        (unsigned long long)walk->content.limit);
    return lw_slice(text, size < 0 ? 0 : (size_t)size);
}

struct luaweb_slice lw_detail(struct lw_walk *walk)
{
    const struct lw_row *row = &walk->machine->graph->rows[walk->row];
    int (*answer)(struct lw_walk *) = row->core ? row->core->answer : NULL;
    bool is_missing = walk->facts & LW_FACT_MISSING;
    if (walk->status == 428 && strcmp(row->given.name, "precondition_optional") == 0)
        return is_missing ? LW_SLICE("send If-None-Match: *")
                          : LW_SLICE("send If-Match with the entity tag that you have");
    if (walk->status == 413 && answer == lw_answer_content_fits)
        return limit(walk);
    if (walk->status == 411 && answer == lw_answer_length_known)
        return LW_SLICE("send Content-Length");
    for (size_t i = 0; walk->status == 406 && i < sizeof choices / sizeof *choices; i++)
        if (answer == choices[i].answer)
            return offers(walk, choices[i].offers, choices[i].what);
    return lw_slice("", 0);
}
