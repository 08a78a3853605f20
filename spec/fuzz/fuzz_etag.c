/* SPDX-License-Identifier: MIT
 *
 * Fuzzes entity tags and lists of them.  The first line is the current tag; each line
 * after it is a line of the list.  What matches strongly matches weakly; one more line
 * with another tag changes no match, one with the tag itself makes a match, and a
 * malformed one leaves none.  RFC 9110 §8.8.3, §13.1.1, §13.1.2. */
#include "base/require.h"
#include "http/etag.h"
#include "http/fields.h"

#define MAX_LINES 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes the next line off `rest`, without its end. */
static struct luaweb_slice take_line(struct luaweb_slice *rest)
{
    const char *end = rest->size > 0 ? memchr(rest->data, '\n', rest->size) : NULL;
    size_t size = end ? (size_t)(end - rest->data) : rest->size;
    size_t used = end ? size + 1 : size;
    struct luaweb_slice line = {rest->data, size};
    rest->data += used;
    rest->size -= used;
    return line;
}

static void check_tag(struct luaweb_slice tag)
{
    bool is_valid = lw_etag_valid(tag);
    bool is_weak = lw_etag_is_weak(tag);
    lw_require(lw_etag_equal_weak(tag, tag) == is_valid);
    lw_require(lw_etag_equal_strong(tag, tag) == (is_valid && !is_weak));
    if (!is_valid)
        return;
    lw_require(tag.size >= 2 && tag.data[tag.size - 1] == '"');
    lw_require(tag.data[0] == (is_weak ? 'W' : '"'));
    lw_require(!memchr(tag.data, ' ', tag.size) && !memchr(tag.data, '\t', tag.size));
}

static enum lw_etag_match ask(const struct luaweb_field *list, uint32_t count,
                              struct luaweb_slice tag, bool is_strong)
{
    struct luaweb_fields headers = {list, count};
    return lw_etag_list(headers, LW_HAS_IF_MATCH, tag, is_strong);
}

/* Asks again with one more line at the end. */
static void check_more(struct luaweb_field *list, uint32_t count,
                       struct luaweb_slice tag, enum lw_etag_match weak)
{
    list[count] = (struct luaweb_field){LW_SLICE("if-match"), LW_SLICE(",, ,")};
    enum lw_etag_match more = ask(list, count + 1, tag, false);
    lw_require(more == (weak == LW_ETAG_ABSENT ? LW_ETAG_OTHER : weak));

    list[count].value = LW_SLICE("\"never,the one\"");
    more = ask(list, count + 1, tag, false);
    lw_require(more == (weak == LW_ETAG_MATCH ? LW_ETAG_MATCH : LW_ETAG_OTHER));

    list[count].value = LW_SLICE("\"");
    lw_require(ask(list, count + 1, tag, false) == LW_ETAG_OTHER);

    if (!lw_etag_valid(tag))
        return;
    list[count].value = tag;
    more = ask(list, count + 1, tag, false);
    if (weak == LW_ETAG_ABSENT || weak == LW_ETAG_MATCH)
        lw_require(more == LW_ETAG_MATCH);
    if (weak == LW_ETAG_STAR)
        lw_require(more == LW_ETAG_OTHER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct luaweb_slice rest = {(const char *)data, size};
    struct luaweb_slice tag = take_line(&rest);
    struct luaweb_field list[MAX_LINES + 1];
    uint32_t count = 0;
    check_tag(tag);
    while (rest.size > 0 && count < MAX_LINES) {
        list[count].name = LW_SLICE("If-Match");
        list[count++].value = take_line(&rest);
        check_tag(list[count - 1].value);
    }

    enum lw_etag_match weak = ask(list, count, tag, false);
    enum lw_etag_match strong = ask(list, count, tag, true);
    lw_require((weak == LW_ETAG_ABSENT) == (count == 0));
    lw_require(strong == weak || (strong == LW_ETAG_OTHER && weak == LW_ETAG_MATCH));
    if (strong == LW_ETAG_MATCH)
        lw_require(lw_etag_valid(tag) && !lw_etag_is_weak(tag));
    if (weak == LW_ETAG_MATCH)
        lw_require(lw_etag_valid(tag));
    lw_require(ask(list, count, LW_SLICE(""), false) != LW_ETAG_MATCH);
    check_more(list, count, tag, weak);
    return 0;
}
