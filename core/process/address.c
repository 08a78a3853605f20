/* SPDX-License-Identifier: MIT
 *
 * Reading and showing addresses to listen at. */
#include "process/address.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"

static bool read_port(struct lw_address *address, const char *text)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits] != 0)
        return false;
    address->port = atoi(text);
    return address->port <= 65535;
}

/* A name or IPv4 address has no colon or bracket; an IPv6 address stands in brackets. */
static bool read_host(struct lw_address *address, const char *text, size_t size)
{
    address->has_brackets = size > 2 && text[0] == '[' && text[size - 1] == ']';
    if (address->has_brackets) {
        text++;
        size -= 2;
    }
    if (size == 0 || size >= sizeof address->host)
        return false;
    for (size_t i = 0; i < size; i++) {
        bool is_odd =
            strchr(":.%", text[i]) == NULL && !isalnum((unsigned char)text[i]);
        if (address->has_brackets ? is_odd : text[i] == ':' || text[i] == '[')
            return false;
    }
    memcpy(address->host, text, size);
    address->host[size] = 0;
    return true;
}

bool lw_address_read(struct lw_address *address, const char *text)
{
    memset(address, 0, sizeof *address);
    address->text = text;
    if (strncmp(text, "unix:", 5) == 0 && text[5] != 0) {
        address->path = text + 5;
        return true;
    }
    const char *colon = strrchr(text, ':');
    return colon && read_host(address, text, (size_t)(colon - text))
           && read_port(address, colon + 1);
}

bool lw_address_is_here(const struct lw_address *address)
{
    struct in_addr ipv4;
    struct in6_addr ipv6;
    if (address->path || strcmp(address->host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, address->host, &ipv4) == 1)
        return ntohl(ipv4.s_addr) >> 24 == IN_LOOPBACKNET;
    return inet_pton(AF_INET6, address->host, &ipv6) == 1
           && IN6_IS_ADDR_LOOPBACK(&ipv6);
}

char *lw_address_show(const struct lw_address *address, int port)
{
    size_t room = strlen(address->text) + sizeof address->host + 32;
    char *out = lw_alloc(room);
    if (address->path)
        snprintf(out, room, "unix:%s", address->path);
    else
        snprintf(out, room, address->has_brackets ? "http://[%s]:%d" : "http://%s:%d",
                 address->host, port);
    return out;
}
