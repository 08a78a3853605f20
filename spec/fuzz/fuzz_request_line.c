/* SPDX-License-Identifier: MIT
 *
 * Fuzzes the request line: the input is put in front of a Host field.  Method, target
 * and version are the whole line, and the parts of the target are the whole target.
 * RFC 9112 §3. */
#include <stdlib.h>

#include "base/require.h"
#include "http/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes `part` from the front of `rest`, where it must lie. */
static void take(struct luaweb_slice *rest, struct luaweb_slice part)
{
    lw_require(part.data == rest->data && part.size <= rest->size);
    rest->data += part.size;
    rest->size -= part.size;
}

/* Takes these octets from the front of `rest`. */
static void take_text(struct luaweb_slice *rest, struct luaweb_slice text)
{
    lw_require(rest->size >= text.size);
    lw_require(memcmp(rest->data, text.data, text.size) == 0);
    rest->data += text.size;
    rest->size -= text.size;
}

static void check_target(struct luaweb_slice target, const struct lw_target *parts)
{
    struct luaweb_slice rest = target;
    if (parts->scheme.size > 0) {
        take(&rest, parts->scheme);
        take_text(&rest, LW_SLICE("://"));
    }
    if (parts->authority.size > 0) {
        lw_require(lw_authority_valid(parts->authority));
        take(&rest, parts->authority);
    }
    lw_require((parts->path.size == 0) == (parts->form == LW_TARGET_AUTHORITY));
    if (parts->path.size > 0 && parts->path.data == rest.data)
        take(&rest, parts->path);
    if (parts->has_query) {
        take_text(&rest, LW_SLICE("?"));
        take(&rest, parts->query);
    }
    lw_require(rest.size == 0);
}

static void check_line(const struct lw_head *head, struct luaweb_slice line)
{
    take(&line, head->method);
    lw_require(head->method.size <= 64);
    take_text(&line, LW_SLICE(" "));
    take(&line, head->target);
    take_text(&line, LW_SLICE(" HTTP/1."));
    lw_require(line.size == 1 && (line.data[0] == '0') == (head->minor_version == 0));
    check_target(head->target, &head->parts);
    lw_require(head->parts.authority.size == 0
               || lw_slice_equal(head->host, head->parts.authority));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char fields[] = "\r\nHost: a\r\n\r\n";
    static const struct lw_head_limits limits = {1024, 1024, 16};
    struct luaweb_field room[16];
    struct lw_head head = {.fields = room, .field_capacity = 16};
    struct lw_scan scan = {0};
    size_t head_size = 0;
    const char *why = NULL;
    size_t all = size + sizeof(fields) - 1;
    char *text = malloc(all);
    lw_require(text);
    memcpy(text, data, size);
    memcpy(text + size, fields, sizeof(fields) - 1);

    int status =
        lw_head_scan(&scan, lw_slice(text, all), &limits, NULL, &head_size, &why);
    lw_require(status == 0 || (status >= 400 && why));
    if (status == 0 && scan.fields == size + 2) {
        status = lw_head_parse(&scan, text, head_size, &head, &why);
        lw_require(status == 0 || (status >= 400 && why));
        if (status == 0)
            check_line(&head, lw_slice(text, size));
    }
    free(text);
    return 0;
}
