/* SPDX-License-Identifier: MIT
 *
 * node = nodename [ ":" node-port ] (RFC 7239 §6). */
#include "http/node.h"

#include <string.h>

/* The octets of "_" and what may follow it (§6.3); 0: it is no such name. */
static size_t name_size(struct luaweb_slice text)
{
    static const char others[] = "._-";
    size_t size = 1;
    if (!lw_slice_begins(text, '_'))
        return 0;
    for (; size < text.size; size++) {
        char c = lw_lower(text.data[size]);
        bool is_alphanumeric = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (!is_alphanumeric && (c == 0 || !strchr(others, c)))
            break;
    }
    return size > 1 ? size : 0;
}

/* Whether `text` is a port of up to five digits, or one that is hidden (§6.2). */
static bool is_port(struct luaweb_slice text)
{
    if (lw_slice_begins(text, '_'))
        return name_size(text) == text.size;
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.size > 0 && text.size <= 5;
}

/* Takes the name off `rest`. */
static bool take_name(struct luaweb_slice *rest, struct lw_node *node)
{
    static const struct luaweb_slice unknown = {"unknown", 7};
    size_t size = name_size(*rest);
    node->name = lw_slice(rest->data, size);
    if (size == 0) {
        if (rest->size < unknown.size
            || !lw_slice_equal_nocase(lw_slice(rest->data, unknown.size), unknown))
            return false;
        size = unknown.size;
        node->name = unknown;
    }
    node->kind = LW_NODE_NAME;
    lw_slice_skip(rest, size);
    return true;
}

/* Takes an address off `rest`: in brackets IPv6, without them IPv4. */
static bool take_address(struct luaweb_slice *rest, struct lw_node *node)
{
    bool has_brackets = lw_slice_begins(*rest, '[');
    if (has_brackets)
        lw_slice_skip(rest, 1);
    const char *end = rest->size > 0
                          ? memchr(rest->data, has_brackets ? ']' : ':', rest->size)
                          : NULL;
    if (has_brackets && !end)
        return false;
    size_t size = end ? (size_t)(end - rest->data) : rest->size;
    struct luaweb_slice text = lw_slice(rest->data, size);
    bool has_colon = size > 0 && memchr(text.data, ':', size);
    if (has_colon != has_brackets || !lw_peer_read(text, &node->address))
        return false;
    node->kind = LW_NODE_ADDRESS;
    lw_slice_skip(rest, has_brackets ? size + 1 : size);
    return true;
}

bool lw_node_read(struct luaweb_slice text, bool is_bare, struct lw_node *node)
{
    struct luaweb_slice rest = text;
    *node = (struct lw_node){.kind = LW_NODE_ADDRESS};
    if (is_bare && lw_peer_read(text, &node->address))
        return true;
    bool is_read = take_name(&rest, node) || take_address(&rest, node);
    if (is_read && rest.size == 0)
        return true;
    if (is_read && rest.data[0] == ':'
        && is_port(lw_slice(rest.data + 1, rest.size - 1)))
        return true;
    *node = (struct lw_node){.kind = LW_NODE_NONE};
    return false;
}

bool lw_node_equal(const struct lw_node *a, const struct lw_node *b)
{
    if (a->kind != b->kind || a->kind == LW_NODE_NONE)
        return a->kind == b->kind;
    if (a->kind == LW_NODE_NAME)
        return lw_slice_equal(a->name, b->name);
    return a->address.family == b->address.family
           && memcmp(a->address.octets, b->address.octets, 16) == 0;
}
