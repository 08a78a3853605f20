/* SPDX-License-Identifier: MIT
 *
 * Fuzzes whole heads.  Where the octets are cut makes no difference; what is read lies
 * in the head, has no control octets and leaves none of its lines out; framing is never
 * ambiguous.  RFC 9112 §2.2, §5, §6. */
#include <stdlib.h>

#include "base/require.h"
#include "http/memo.h"

enum {
    ROOM = 16
};

static const struct lw_head_limits limits = {256, 1024, ROOM};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_token(struct luaweb_slice text)
{
    return text.size > 0 && lw_token_size(text.data, text.size) == text.size;
}

static bool lies_in(struct luaweb_slice part, const char *data, size_t size)
{
    return part.data >= data && part.data + part.size <= data + size;
}

static void check_fields(const struct lw_head *head, const char *data, size_t size)
{
    uint32_t present = 0;
    for (uint32_t i = 0; i < head->field_count; i++) {
        struct luaweb_slice name = head->fields[i].name;
        struct luaweb_slice value = head->fields[i].value;
        lw_require(lies_in(name, data, size) && lies_in(value, data, size));
        lw_require(is_token(name) && lw_slice_trim(value).size == value.size);
        for (size_t k = 0; k < value.size; k++) {
            unsigned char octet = (unsigned char)value.data[k];
            lw_require(octet == '\t' || (octet >= ' ' && octet != 0x7f));
        }
        present |= lw_field_bit(name);
    }
    lw_require(present == head->present);
}

static void check_framing(const struct lw_head *head)
{
    bool has_length = head->present & LW_HAS_CONTENT_LENGTH;
    bool has_coding = head->present & LW_HAS_TRANSFER_ENCODING;
    lw_require(!(has_length && has_coding));
    lw_require(has_length == (head->framing == LW_FRAMING_LENGTH));
    lw_require(has_coding == (head->framing == LW_FRAMING_CHUNKED));
    lw_require(head->content_length <= INT64_MAX);
    lw_require(has_length || head->content_length == 0);
    lw_require(!head->expects_continue || head->minor_version == 1);
}

static void check_same(struct luaweb_slice a, struct luaweb_slice b)
{
    lw_require(a.size == b.size && (a.size == 0 || a.data == b.data));
}

static void check_same_head(const struct lw_head *a, const struct lw_head *b)
{
    lw_require(a->field_count == b->field_count && a->present == b->present);
    lw_require(a->framing == b->framing && a->content_length == b->content_length);
    lw_require(a->keep_alive == b->keep_alive);
    lw_require(a->expects_continue == b->expects_continue);
    check_same(a->host, b->host);
    for (uint32_t i = 0; i < a->field_count; i++) {
        check_same(a->fields[i].name, b->fields[i].name);
        check_same(a->fields[i].value, b->fields[i].value);
    }
}

/* Field lines that are known read as they did, and are known as a whole only. */
static void check_memo(char *data, size_t size, const struct lw_head *plain, int status)
{
    struct lw_head_memo memo = {0};
    struct luaweb_field fields[ROOM];
    for (int round = 0; round < 2; round++) {
        struct lw_scan scan = {0};
        struct lw_head head = {.memo = &memo, .fields = fields, .field_capacity = ROOM};
        const char *why = NULL;
        size_t whole = 0;
        lw_require(
            lw_head_scan(&scan, lw_slice(data, size), &limits, &memo, &whole, &why)
            == 0);
        lw_require(whole == size && scan.is_known == (round > 0 && memo.size > 0));
        lw_require(lw_head_parse(&scan, data, size, &head, &why) == status);
        if (status == 0)
            check_same_head(&head, plain);
    }
    if (memo.size > 0) {
        char *lines = data + size - memo.size;
        lw_require(!lw_memo_begins(&memo, lw_slice(lines, memo.size - 1)));
        lines[memo.size / 2] ^= 1;
        lw_require(!lw_memo_begins(&memo, lw_slice(lines, memo.size)));
    }
}

static void check_parse(const struct lw_scan *scan, const char *data, size_t size)
{
    struct luaweb_field fields[ROOM];
    struct lw_head head = {.fields = fields, .field_capacity = ROOM};
    const char *why = NULL;
    char *copy = malloc(size);
    lw_require(copy);
    memcpy(copy, data, size);
    int status = lw_head_parse(scan, copy, size, &head, &why);
    if (status == 0) {
        lw_require(head.field_count + 2 == scan->lines);
        lw_require(lies_in(head.method, copy, size) && is_token(head.method));
        lw_require(lies_in(head.target, copy, size) && head.target.size > 0);
        check_fields(&head, copy, size);
        check_framing(&head);
    } else {
        lw_require(status >= 400 && why);
    }
    check_memo(copy, size, &head, status);
    free(copy);
}

/* Looks for the end with one octet more each time, from `first` on. */
static int scan_slowly(struct lw_scan *scan, const char *data, size_t size,
                       size_t first)
{
    size_t head_size = 0;
    const char *why = NULL;
    int status = 1;
    for (size_t come = first; status == 1 && come <= size; come++)
        status =
            lw_head_scan(scan, lw_slice(data, come), &limits, NULL, &head_size, &why);
    lw_require(status != 0 || head_size == scan->at);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t skipped = lw_head_skip(text, size);
    lw_require(skipped <= size && skipped % 2 == 0);
    text += skipped;
    size -= skipped;

    struct lw_scan once = {0};
    int status = scan_slowly(&once, text, size, size);
    for (size_t first = 1; first <= size && first < 64; first += 9) {
        struct lw_scan slow = {0};
        int other = scan_slowly(&slow, text, size, first);
        lw_require(status == other);
        lw_require(status != 0 || memcmp(&once, &slow, sizeof(once)) == 0);
    }
    if (status == 0)
        check_parse(&once, text, once.at);
    return 0;
}
