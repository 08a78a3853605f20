/* SPDX-License-Identifier: MIT
 *
 * Takes a request target apart.  What is no target is refused here, so that nothing
 * behind this file meets one.  RFC 9112 §3.2, RFC 3986 §3.2. */
#include "http/target.h"

#include <arpa/inet.h>
#include <string.h>

#include "http/octets.h"

static int refuse(const char *sentence, const char **why)
{
    *why = sentence;
    return 400;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is(enum lw_octet kind, char c)
{
    return lw_octets[(unsigned char)c] & kind;
}

/* The number of octets of a registered name that `text` begins with. */
static size_t name_size(struct luaweb_slice text)
{
    size_t i = 0;
    for (; i < text.size; i++) {
        if (is(LW_OCTET_NAME, text.data[i]))
            continue;
        if (text.data[i] != '%' || text.size - i < 3
            || !is(LW_OCTET_HEX, text.data[i + 1])
            || !is(LW_OCTET_HEX, text.data[i + 2]))
            break;
        i += 2;
    }
    return i;
}

/* IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" ) */
static bool is_future_address(struct luaweb_slice text)
{
    size_t i = 1;
    while (i < text.size && is(LW_OCTET_HEX, text.data[i]))
        i++;
    if (lw_lower(text.data[0]) != 'v' || i == 1 || i == text.size
        || text.data[i] != '.')
        return false;
    size_t version_end = i++;
    while (i < text.size && (is(LW_OCTET_NAME, text.data[i]) || text.data[i] == ':'))
        i++;
    return i == text.size && i > version_end + 1;
}

/* What stands between the brackets. */
static bool is_literal(struct luaweb_slice text)
{
    char copy[INET6_ADDRSTRLEN];
    struct in6_addr address;
    if (text.size == 0)
        return false;
    if (is_future_address(text))
        return true;
    if (text.size >= sizeof(copy) || memchr(text.data, '\0', text.size))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    return inet_pton(AF_INET6, copy, &address) == 1;
}

/* The port as a number; -1 when it is none; an empty one is 0. */
static int32_t port_number(struct luaweb_slice text)
{
    int32_t port = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (!is_digit(text.data[i]))
            return -1;
        port = port * 10 + (text.data[i] - '0');
        if (port > 65535)
            return -1;
    }
    return port;
}

/* Whether `text`, which follows a host, is empty or a colon and a port. */
static bool is_port_part(struct luaweb_slice text)
{
    if (text.size == 0)
        return true;
    return text.data[0] == ':'
           && port_number(lw_slice(text.data + 1, text.size - 1)) >= 0;
}

/* The size of the host that `authority` begins with; 0: of none. */
static size_t host_size(struct luaweb_slice authority)
{
    if (authority.size == 0 || authority.data[0] != '[')
        return name_size(authority);
    const char *stop = memchr(authority.data, ']', authority.size);
    if (!stop
        || !is_literal(
            lw_slice(authority.data + 1, (size_t)(stop - authority.data) - 1)))
        return 0;
    return (size_t)(stop - authority.data) + 1;
}

bool lw_authority_valid(struct luaweb_slice authority)
{
    size_t size = host_size(authority);
    return size > 0
           && is_port_part(lw_slice(authority.data + size, authority.size - size));
}

/* CONNECT wants a port that can be connected to (RFC 9110 §9.3.6). */
static int parse_authority(struct luaweb_slice target, struct lw_target *out,
                           const char **why)
{
    size_t port = target.size;
    while (port > 0 && is_digit(target.data[port - 1]))
        port--;
    if (!lw_authority_valid(target) || port == 0 || target.data[port - 1] != ':'
        || port_number(lw_slice(target.data + port, target.size - port)) == 0)
        return refuse("the target of CONNECT is not host:port", why);
    out->form = LW_TARGET_AUTHORITY;
    out->authority = target;
    return 0;
}

static void split_query(struct luaweb_slice text, struct lw_target *out)
{
    const char *mark = text.size > 0 ? memchr(text.data, '?', text.size) : NULL;
    out->path = text;
    if (!mark)
        return;
    out->path.size = (size_t)(mark - text.data);
    out->query = lw_slice(mark + 1, text.size - out->path.size - 1);
    out->has_query = true;
}

static int parse_absolute(struct luaweb_slice method, struct luaweb_slice target,
                          struct lw_target *out, const char **why)
{
    const char *colon = memchr(target.data, ':', target.size);
    size_t start = colon ? (size_t)(colon - target.data) + 3 : 0;
    if (!colon || target.size < start || colon[1] != '/' || colon[2] != '/')
        return refuse("the target is neither a path nor an absolute URI", why);
    out->scheme = lw_slice(target.data, start - 3);
    if (!lw_slice_equal_nocase(out->scheme, LW_SLICE("http"))
        && !lw_slice_equal_nocase(out->scheme, LW_SLICE("https")))
        return refuse("the scheme of the target is neither http nor https", why);
    size_t end = start;
    while (end < target.size && target.data[end] != '/' && target.data[end] != '?')
        end++;
    out->authority = lw_slice(target.data + start, end - start);
    if (!lw_authority_valid(out->authority))
        return refuse("the authority of the target is not host[:port]", why);
    split_query(lw_slice(target.data + end, target.size - end), out);
    out->form = LW_TARGET_ABSOLUTE;
    if (out->path.size > 0)
        return 0;
    bool is_server = !out->has_query && lw_slice_equal(method, LW_SLICE("OPTIONS"));
    out->form = is_server ? LW_TARGET_ASTERISK : LW_TARGET_ABSOLUTE;
    out->path = is_server ? LW_SLICE("*") : LW_SLICE("/");
    return 0;
}

int lw_target_parse(struct luaweb_slice method, struct luaweb_slice target,
                    struct lw_target *out, const char **why)
{
    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < target.size; i++)
        if (!is(LW_OCTET_TARGET, target.data[i]))
            return refuse("the target has an octet that no target may have", why);
    if (lw_slice_equal(method, LW_SLICE("CONNECT")))
        return parse_authority(target, out, why);
    if (target.size > 0 && target.data[0] == '/') {
        out->form = LW_TARGET_ORIGIN;
        split_query(target, out);
        return 0;
    }
    if (!lw_slice_equal(target, LW_SLICE("*")))
        return target.size > 0 ? parse_absolute(method, target, out, why)
                               : refuse("the target is empty", why);
    if (!lw_slice_equal(method, LW_SLICE("OPTIONS")))
        return refuse("only OPTIONS may have the target *", why);
    out->form = LW_TARGET_ASTERISK;
    out->path = target;
    return 0;
}
