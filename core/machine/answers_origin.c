/* SPDX-License-Identifier: MIT
 *
 * Questions of the CORS protocol (Fetch, CORS protocol).  Nothing is refused here: a
 * response to an origin that is not let in lacks the fields that would let it in. */
#include "machine/answers.h"

#include "base/slice.h"
#include "http/fields.h"

int lw_answer_origin_given(struct lw_walk *walk)
{
    return walk->present & LW_HAS_ORIGIN
           && lw_fields_only(walk->request->headers, LW_HAS_ORIGIN);
}

/* All are let in, but with credentials nobody is who was not named. */
static int allow_all(struct lw_walk *walk)
{
    struct lw_value credentials;
    if (!lw_walk_value(walk, LUAWEB_CORS_CREDENTIALS, &credentials))
        return LW_ASK;
    return !credentials.text.data || credentials.number == 0;
}

int lw_answer_origin_allowed(struct lw_walk *walk)
{
    const struct luaweb_fields *headers = &walk->request->headers;
    const struct luaweb_field *origin =
        lw_fields_find(headers->list, headers->count, LW_SLICE("Origin"));
    struct lw_list origins;
    if (walk->machine->said[walk->row].answer == LUAWEB_ANSWER_YES)
        return LUAWEB_ANSWER_YES;
    if (!lw_walk_list(walk, LUAWEB_CORS_ORIGINS, &origins))
        return LW_ASK;
    if (!origin)
        return LUAWEB_ANSWER_NO;
    if (origins.count == 1 && lw_slice_equal(origins.items[0], LW_SLICE("*")))
        return allow_all(walk);
    for (uint32_t i = 0; i < origins.count; i++)
        if (lw_slice_equal(origins.items[i], origin->value))
            return LUAWEB_ANSWER_YES;
    return LUAWEB_ANSWER_NO;
}

int lw_answer_not_preflight(struct lw_walk *walk)
{
    if (!(walk->present & LW_HAS_REQUEST_METHOD))
        return LUAWEB_ANSWER_YES;
    walk->facts |= LW_FACT_PREFLIGHT;
    return LUAWEB_ANSWER_NO;
}
