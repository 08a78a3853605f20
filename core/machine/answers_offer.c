/* SPDX-License-Identifier: MIT
 *
 * Questions of negotiation: which of what the machine offers would be sent (RFC 9110
 * §12).  Where nothing is acceptable and the machine isn't strict about the dimension, it is
 * the first offer; content without a coding is an offer that each machine has. */
#include "machine/answers.h"

#include "base/slice.h"
#include "http/accept.h"
#include "http/fields.h"

static const enum luaweb_property offers_of[LW_DIMENSIONS] = {
    [LW_ACCEPT_MEDIA_TYPE] = LUAWEB_AVAILABLE_MEDIA_TYPES,
    [LW_ACCEPT_LANGUAGE] = LUAWEB_AVAILABLE_LANGUAGES,
    [LW_ACCEPT_CHARSET] = LUAWEB_AVAILABLE_CHARSETS,
    [LW_ACCEPT_CODING] = LUAWEB_AVAILABLE_CONTENT_CODINGS,
};

static const char *const names[LW_DIMENSIONS] = {
    [LW_ACCEPT_MEDIA_TYPE] = "media_type",
    [LW_ACCEPT_LANGUAGE] = "language",
    [LW_ACCEPT_CHARSET] = "charset",
    [LW_ACCEPT_CODING] = "content_coding",
};

int lw_walk_accept(struct lw_walk *walk, int dimension, struct lw_list *list)
{
    if (!lw_walk_list(walk, offers_of[dimension], list))
        return LW_ASK;
    int8_t *kept = &walk->accepted[dimension];
    if (*kept == 0) {
        struct luaweb_fields headers = walk->request->headers;
        int chosen = -1;
        bool is_coding = dimension == LW_ACCEPT_CODING;
        if (is_coding && !(walk->present & LW_HAS_ACCEPT_ENCODING))
            chosen = -1; /* a client that says nothing may not know any */
        else if (list->count > 0 && is_coding)
            chosen = lw_accept_choose_coding(headers, list->items, list->count);
        else if (list->count > 0)
            chosen = lw_accept_choose((enum lw_accept)dimension, headers, list->items,
                                      list->count);
        *kept = (int8_t)(chosen < 0 ? -1 : chosen + 1);
    }
    return *kept < 0 ? 0 : *kept;
}

/* Whether nothing acceptable is a 406. */
static int is_strict(struct lw_walk *walk, int dimension)
{
    const char *name = names[dimension];
    struct lw_list strict;
    if (!walk->machine->values[LUAWEB_STRICT].function)
        return lw_machine_is_strict(walk->machine, name);
    if (!lw_walk_list(walk, LUAWEB_STRICT, &strict))
        return LW_ASK;
    for (uint32_t i = 0; i < strict.count; i++)
        if (lw_slice_equal(strict.items[i], lw_slice(name, strlen(name))))
            return true;
    return false;
}

static int answer_offered(struct lw_walk *walk, int dimension)
{
    struct lw_list list;
    int chosen = lw_walk_accept(walk, dimension, &list);
    if (chosen == LW_ASK)
        return LW_ASK;
    if (chosen > 0 || list.count == 0)
        return LUAWEB_ANSWER_YES;
    bool is_coding = dimension == LW_ACCEPT_CODING;
    if (is_coding && lw_accept_identity(walk->request->headers))
        return LUAWEB_ANSWER_YES;
    int strict = is_strict(walk, dimension);
    if (strict == LW_ASK)
        return LW_ASK;
    if (!strict && !is_coding)
        walk->accepted[dimension] = 1;
    return !strict;
}

int lw_answer_media_type_offered(struct lw_walk *walk)
{
    return answer_offered(walk, LW_ACCEPT_MEDIA_TYPE);
}

int lw_answer_language_offered(struct lw_walk *walk)
{
    return answer_offered(walk, LW_ACCEPT_LANGUAGE);
}

int lw_answer_charset_offered(struct lw_walk *walk)
{
    return answer_offered(walk, LW_ACCEPT_CHARSET);
}

int lw_answer_coding_offered(struct lw_walk *walk)
{
    return answer_offered(walk, LW_ACCEPT_CODING);
}
