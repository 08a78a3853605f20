/* SPDX-License-Identifier: MIT
 *
 * The lists are read from the left, in one pass: an element that names no trusted proxy
 * makes all before it forgotten, faults too, so what is left at the end is what a walk
 * from the right would have found. */
#include "http/forwarded.h"

#include <string.h>

#include "http/fields.h"
#include "http/node.h"
#include "http/target.h"

/* One hop: what a proxy said of the request that it got. */
struct hop {
    struct luaweb_slice node; /* data NULL: not said; likewise the others */
    struct luaweb_slice scheme;
    struct luaweb_slice host;
};

/* What is believed so far. */
struct chain {
    const struct lw_networks *trusted;
    struct lw_node peer;
    struct luaweb_slice scheme;
    struct luaweb_slice host;
    bool is_malformed;
};

static const struct luaweb_slice schemes[] = {
    {"http",  4},
    {"https", 5}
};

/* The constant of that name in any case; no data: it is none of ours. */
static struct luaweb_slice scheme_of(struct luaweb_slice text)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (lw_slice_equal_nocase(text, schemes[i]))
            return schemes[i];
    return lw_slice(NULL, 0);
}

static void forget(struct chain *chain, bool is_malformed)
{
    chain->peer = (struct lw_node){.kind = LW_NODE_NONE};
    chain->scheme = chain->host = lw_slice(NULL, 0);
    chain->is_malformed = is_malformed;
}

static bool add_scheme(struct chain *chain, struct luaweb_slice text)
{
    struct luaweb_slice scheme = scheme_of(text);
    if (!chain->scheme.data)
        chain->scheme = scheme;
    return scheme.data != NULL;
}

static bool add_host(struct chain *chain, struct luaweb_slice text)
{
    if (!chain->host.data)
        chain->host = text;
    return text.size > 0 && lw_authority_valid(text);
}

/* Whether the walk from the right ends here: who is named is the client, or can't be
 * told from one. */
static bool is_end(const struct chain *chain, const struct lw_node *node)
{
    return node->kind != LW_NODE_ADDRESS
           || !lw_networks_have(chain->trusted, &node->address);
}

static void add_hop(struct chain *chain, const struct hop *hop, bool is_bare)
{
    struct lw_node node = {.kind = LW_NODE_NONE};
    bool is_good = !hop->node.data || lw_node_read(hop->node, is_bare, &node);
    if (is_end(chain, &node))
        forget(chain, false);
    if (chain->peer.kind == LW_NODE_NONE)
        chain->peer = node;
    if (hop->scheme.data)
        is_good = add_scheme(chain, hop->scheme) && is_good;
    if (hop->host.data)
        is_good = add_host(chain, hop->host) && is_good;
    if (!is_good)
        forget(chain, true);
}

static bool take(struct luaweb_slice *rest, char octet)
{
    if (!lw_slice_begins(*rest, octet))
        return false;
    lw_slice_skip(rest, 1);
    return true;
}

/* Whether an octet may stand in a quoted string, alone or behind a backslash (RFC 9110
 * §5.6.4). */
static bool is_text(char octet)
{
    unsigned char c = (unsigned char)octet;
    return c == '\t' || (c >= ' ' && c != 0x7f);
}

/* Takes a quoted string whose first quote is taken; where it has backslashes, what it
 * means is copied into the arena. */
static bool take_quoted(struct luaweb_slice *rest, struct lw_arena *arena,
                        struct luaweb_slice *value)
{
    size_t size = 0;
    size_t escapes = 0;
    while (size < rest->size && rest->data[size] != '"') {
        if (rest->data[size] == '\\') {
            escapes++;
            size++;
        }
        if (size == rest->size || !is_text(rest->data[size]))
            return false;
        size++;
    }
    if (size == rest->size)
        return false;
    *value = lw_slice(rest->data, size);
    lw_slice_skip(rest, size + 1);
    if (escapes == 0)
        return true;
    char *copy = lw_arena_alloc(arena, size - escapes);
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        if (value->data[i] == '\\')
            i++;
        copy[count++] = value->data[i];
    }
    *value = lw_slice(copy, count);
    return true;
}

static bool take_value(struct luaweb_slice *rest, struct lw_arena *arena,
                       struct luaweb_slice *value)
{
    if (take(rest, '"'))
        return take_quoted(rest, arena, value);
    size_t size = lw_token_size(rest->data, rest->size);
    *value = lw_slice(rest->data, size);
    lw_slice_skip(rest, size);
    return size > 0;
}

/* Takes name=value; each may be there once (§4). */
static bool take_pair(struct luaweb_slice *rest, struct lw_arena *arena,
                      struct hop *hop, struct luaweb_slice *by)
{
    struct luaweb_slice value;
    size_t size = lw_token_size(rest->data, rest->size);
    struct luaweb_slice name = lw_slice(rest->data, size);
    lw_slice_skip(rest, size);
    if (size == 0 || !take(rest, '=') || !take_value(rest, arena, &value))
        return false;
    struct luaweb_slice *place =
        lw_slice_equal_nocase(name, LW_SLICE("for"))     ? &hop->node
        : lw_slice_equal_nocase(name, LW_SLICE("proto")) ? &hop->scheme
        : lw_slice_equal_nocase(name, LW_SLICE("host"))  ? &hop->host
        : lw_slice_equal_nocase(name, LW_SLICE("by"))    ? by
                                                         : NULL;
    if (place && place->data)
        return false;
    if (place)
        *place = value;
    return true;
}

/* All pairs of one hop, with semicolons between them; white space around those is in
 * nobody's way. */
static bool read_hop(struct luaweb_slice rest, struct lw_arena *arena, struct hop *hop)
{
    struct luaweb_slice by = {NULL, 0};
    do {
        lw_slice_skip_space(&rest);
        if (rest.size > 0 && rest.data[0] != ';' && !take_pair(&rest, arena, hop, &by))
            return false;
        lw_slice_skip_space(&rest);
    } while (take(&rest, ';'));
    return rest.size == 0;
}

/* One line.  A fault is one of its hop alone, but a quote that does not end takes in all
 * that follows. */
static void read_forwarded(struct chain *chain, struct luaweb_slice rest,
                           struct lw_arena *arena)
{
    while (rest.size > 0) {
        struct hop hop = {
            .node = {NULL, 0}
        };
        size_t size = lw_list_size(rest);
        struct luaweb_slice text = lw_slice_trim(lw_slice(rest.data, size));
        lw_slice_skip(&rest, size < rest.size ? size + 1 : size);
        if (text.size == 0)
            continue;
        if (read_hop(text, arena, &hop))
            add_hop(chain, &hop, false);
        else
            forget(chain, true);
    }
}

/* The members of all lines of one field. */
struct members {
    struct luaweb_fields headers;
    struct luaweb_slice name;
    struct luaweb_slice rest; /* of a line */
    uint32_t at;              /* the next line to look at */
};

static bool next_member(struct members *members, struct luaweb_slice *member)
{
    while (!lw_list_next(&members->rest, member)) {
        const struct luaweb_field *field;
        do {
            if (members->at == members->headers.count)
                return false;
            field = &members->headers.list[members->at++];
        } while (!lw_slice_equal_nocase(field->name, members->name));
        members->rest = field->value;
    }
    return true;
}

static uint32_t count_members(struct members members)
{
    struct luaweb_slice member;
    uint32_t count = 0;
    while (next_member(&members, &member))
        count++;
    return count;
}

/* One value is that of the client's request, whoever wrote it; as many as there are
 * addresses are theirs, one each; any other number can't be told. */
static void read_x_forwarded(struct chain *chain, struct luaweb_fields headers)
{
    struct members nodes = {
        headers, LW_SLICE("X-Forwarded-For"), {NULL, 0},
          0
    };
    struct members schemes_said = {
        headers, LW_SLICE("X-Forwarded-Proto"), {NULL, 0},
          0
    };
    struct members hosts = {
        headers, LW_SLICE("X-Forwarded-Host"), {NULL, 0},
          0
    };
    uint32_t count = count_members(nodes);
    uint32_t scheme_count = count_members(schemes_said);
    uint32_t host_count = count_members(hosts);
    struct hop hop = {
        .node = {NULL, 0}
    };
    while (next_member(&nodes, &hop.node)) {
        if (scheme_count == count)
            next_member(&schemes_said, &hop.scheme);
        if (host_count == count)
            next_member(&hosts, &hop.host);
        add_hop(chain, &hop, true);
    }
    bool is_good = !chain->is_malformed;
    if (scheme_count != count && scheme_count > 0)
        is_good = next_member(&schemes_said, &hop.scheme) && scheme_count == 1
                  && add_scheme(chain, hop.scheme) && is_good;
    if (host_count != count && host_count > 0)
        is_good = next_member(&hosts, &hop.host) && host_count == 1
                  && add_host(chain, hop.host) && is_good;
    if (!is_good)
        forget(chain, true);
}

static bool is_same(const struct chain *a, const struct chain *b)
{
    return !a->is_malformed && !b->is_malformed && lw_node_equal(&a->peer, &b->peer)
           && lw_slice_equal(a->scheme, b->scheme)
           && lw_slice_equal_nocase(a->host, b->host);
}

static struct luaweb_slice copy(struct lw_arena *arena, struct luaweb_slice text)
{
    if (text.size == 0)
        return lw_slice(NULL, 0);
    char *data = lw_arena_alloc(arena, text.size);
    memcpy(data, text.data, text.size);
    return lw_slice(data, text.size);
}

static void tell(const struct chain *chain, struct lw_arena *arena,
                 struct lw_forwarded *found)
{
    char text[LW_PEER_TEXT];
    struct luaweb_slice peer = chain->peer.name;
    if (chain->peer.kind == LW_NODE_ADDRESS)
        peer = lw_slice(text, lw_peer_write(&chain->peer.address, text));
    found->peer = copy(arena, peer);
    found->scheme = chain->scheme;
    found->host = copy(arena, chain->host);
}

/* What each of the two ways of saying it says, and which of them are there. */
struct said {
    struct chain standard;
    struct chain customary;
    bool is_standard;
    bool is_customary;
};

static void read_both(struct said *said, struct luaweb_fields headers,
                      struct lw_arena *arena)
{
    for (uint32_t i = 0; i < headers.count; i++) {
        const struct luaweb_field *field = &headers.list[i];
        if (lw_slice_equal_nocase(field->name, LW_SLICE("Forwarded"))) {
            said->is_standard = true;
            read_forwarded(&said->standard, field->value, arena);
        }
        said->is_customary |=
            lw_slice_equal_nocase(field->name, LW_SLICE("X-Forwarded-For"))
            || lw_slice_equal_nocase(field->name, LW_SLICE("X-Forwarded-Proto"))
            || lw_slice_equal_nocase(field->name, LW_SLICE("X-Forwarded-Host"));
    }
    if (said->is_customary)
        read_x_forwarded(&said->customary, headers);
}

int lw_forwarded_read(struct luaweb_fields headers, const struct lw_networks *trusted,
                      struct lw_arena *arena, struct lw_forwarded *found,
                      const char **why)
{
    struct said said = {{.trusted = trusted}, {.trusted = trusted}, false, false};
    *found = (struct lw_forwarded){
        .peer = {NULL, 0}
    };
    read_both(&said, headers, arena);
    if (said.is_standard && said.is_customary
        && !is_same(&said.standard, &said.customary)) {
        *why = "Forwarded and X-Forwarded-* do not say the same";
        return 400;
    }
    const struct chain *chain = said.is_standard ? &said.standard : &said.customary;
    if (chain->is_malformed) {
        *why =
            said.is_standard ? "Forwarded is malformed" : "X-Forwarded-* is malformed";
        return -1;
    }
    tell(chain, arena, found);
    return 0;
}
