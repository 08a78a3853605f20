/* SPDX-License-Identifier: MIT
 *
 * Questions of negotiation: which of what the machine offers would be sent (RFC 9110
 * §12).  Where nothing is acceptable and the machine isn't strict about the dimension,
 * it is the first offer; content without a coding is an offer that each machine has. */
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

static const char *const questions[LW_DIMENSIONS] = {
    [LW_ACCEPT_MEDIA_TYPE] = "media_type_offered",
    [LW_ACCEPT_LANGUAGE] = "language_offered",
    [LW_ACCEPT_CHARSET] = "charset_offered",
    [LW_ACCEPT_CODING] = "coding_offered",
};

/* As `strict` has them. */
static const char *const names[LW_DIMENSIONS] = {
    [LW_ACCEPT_MEDIA_TYPE] = "media_type",
    [LW_ACCEPT_LANGUAGE] = "language",
    [LW_ACCEPT_CHARSET] = "charset",
    [LW_ACCEPT_CODING] = "content_coding",
};

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

/* The best offer: its index + 1, or -1. */
static int negotiate(const struct lw_walk *walk, int dimension,
                     const struct lw_list *list)
{
    struct luaweb_fields headers = walk->request->headers;
    bool is_coding = dimension == LW_ACCEPT_CODING;
    int chosen = -1;
    if (is_coding && !(walk->present & LW_HAS_ACCEPT_ENCODING))
        return -1; /* a client that says nothing may not know any */
    if (list->count > 0 && is_coding)
        chosen = lw_accept_choose_coding(headers, list->items, list->count);
    else if (list->count > 0)
        chosen = lw_accept_choose((enum lw_accept)dimension, headers, list->items,
                                  list->count);
    return chosen < 0 ? -1 : chosen + 1;
}

/* Whether something is sent although nothing of the dimension is acceptable: where the
 * machine is not strict about it, or the app answers the question.  LW_ASK. */
static int is_sent(struct lw_walk *walk, int dimension)
{
    const struct lw_graph *graph = walk->machine->graph;
    uint32_t row = lw_graph_find(graph, questions[dimension]);
    if (row < graph->count && walk->machine->said[row].answer != LUAWEB_ANSWER_UNSET)
        return true;
    int strict = is_strict(walk, dimension);
    return strict == LW_ASK ? LW_ASK : !strict;
}

/* Whether content goes without a coding. */
static bool is_bare(const struct lw_walk *walk, int dimension)
{
    return dimension == LW_ACCEPT_CODING && lw_accept_identity(walk->request->headers);
}

int lw_walk_accept(struct lw_walk *walk, int dimension, struct lw_list *list)
{
    if (!lw_walk_list(walk, offers_of[dimension], list))
        return LW_ASK;
    int32_t *kept = &walk->accepted[dimension];
    if (*kept == 0) {
        int chosen = negotiate(walk, dimension, list);
        if (chosen < 0 && list->count > 0 && !is_bare(walk, dimension)) {
            int sent = is_sent(walk, dimension);
            if (sent == LW_ASK)
                return LW_ASK;
            chosen = sent ? 1 : -1;
        }
        *kept = chosen;
    }
    return *kept < 0 ? 0 : *kept;
}

static int answer_offered(struct lw_walk *walk, int dimension)
{
    struct lw_list list;
    int chosen = lw_walk_accept(walk, dimension, &list);
    if (chosen == LW_ASK)
        return LW_ASK;
    return chosen > 0 || list.count == 0 || is_bare(walk, dimension);
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
