/* SPDX-License-Identifier: MIT
 *
 * Reading a template into parts, and matching by backtracking over them.  A path that
 * would take more than MATCH_STEPS steps does not match: the path is the client's. */
#include "route/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"

static bool is_name_octet(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
           || c == '_' || c == '.';
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (lw_lower(c) >= 'a' && lw_lower(c) <= 'f');
}

/* Every % is followed by two hex digits. */
static bool escapes_valid(struct luaweb_slice s)
{
    for (size_t i = 0; i < s.size; i++) {
        if (s.data[i] != '%')
            continue;
        if (s.size - i < 3 || !is_hex(s.data[i + 1]) || !is_hex(s.data[i + 2]))
            return false;
        i += 2;
    }
    return true;
}

static bool name_valid(struct luaweb_slice name)
{
    if (name.size == 0 || name.data[0] == '.' || name.data[name.size - 1] == '.')
        return false;
    for (size_t i = 0; i < name.size; i++)
        if (!is_name_octet(name.data[i]))
            return false;
    return true;
}

static const char *add_part(struct lw_template *t, enum lw_part_kind kind,
                            struct luaweb_slice text)
{
    if (t->part_count == LW_TEMPLATE_PARTS)
        return "has too many parts";
    if (kind != LW_PART_LITERAL) {
        if (t->variable_count == LW_TEMPLATE_VARIABLES)
            return "has too many variables";
        for (uint32_t i = 0; i < t->part_count; i++)
            if (t->parts[i].kind != LW_PART_LITERAL
                && lw_slice_equal(t->parts[i].text, text))
                return "names a variable twice";
        if (kind == LW_PART_VARIABLE && t->part_count > 0
            && t->parts[t->part_count - 1].kind != LW_PART_LITERAL)
            return "has two variables with nothing between them";
        t->variable_count++;
    }
    t->parts[t->part_count++] = (struct lw_part){kind, text};
    return NULL;
}

/* Reads the expression behind a brace; *used counts its octets with the closing
 * brace. */
static const char *read_expression(struct lw_template *t, struct luaweb_slice rest,
                                   size_t *used)
{
    const char *end = memchr(rest.data, '}', rest.size);
    if (!end)
        return "has a { without its }";
    struct luaweb_slice name = {rest.data, (size_t)(end - rest.data)};
    *used = name.size + 1;
    enum lw_part_kind kind = LW_PART_VARIABLE;
    if (name.size > 0 && name.data[0] == '/') {
        kind = LW_PART_SEGMENT;
        name.data++;
        name.size--;
    }
    if (!name_valid(name))
        return "has an expression that is neither {name} nor {/name}";
    return add_part(t, kind, name);
}

static const char *read_literal(struct lw_template *t, struct luaweb_slice text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c == '}')
            return "has a } without its {";
        if (c == '?' || c == '#')
            return "has a literal ? or #: the query is not part of a route";
        if (c <= ' ' || c == 0x7f)
            return "has a space or a control octet";
    }
    if (!escapes_valid(text))
        return "has a % that is not followed by two hexadecimal digits";
    return add_part(t, LW_PART_LITERAL, text);
}

static const char *read_parts(struct lw_template *t, struct luaweb_slice rest)
{
    while (rest.size > 0) {
        const char *why;
        size_t used = 0;
        if (rest.data[0] == '{') {
            why = read_expression(t, lw_slice(rest.data + 1, rest.size - 1), &used);
            used++;
        } else {
            const char *brace = memchr(rest.data, '{', rest.size);
            used = brace ? (size_t)(brace - rest.data) : rest.size;
            why = read_literal(t, lw_slice(rest.data, used));
        }
        if (why)
            return why;
        rest.data += used;
        rest.size -= used;
    }
    return NULL;
}

static const char *check_start(const struct lw_template *t)
{
    if (t->part_count == 0)
        return "is empty";
    if (t->parts[0].kind == LW_PART_SEGMENT)
        return NULL;
    if (t->parts[0].kind != LW_PART_LITERAL || t->parts[0].text.data[0] != '/')
        return "does not start with /";
    return NULL;
}

bool lw_template_construct(struct lw_template *template, struct luaweb_slice text,
                           const char **why)
{
    memset(template, 0, sizeof *template);
    template->text = lw_alloc(text.size);
    if (text.size)
        memcpy(template->text, text.data, text.size);
    *why = read_parts(template, lw_slice(template->text, text.size));
    if (!*why)
        *why = check_start(template);
    if (*why)
        lw_template_destruct(template);
    return !*why;
}

void lw_template_destruct(struct lw_template *template)
{
    free(template->text);
    template->text = NULL;
    template->part_count = 0;
}

#define MATCH_STEPS 20000

struct match {
    const struct lw_template *template;
    struct luaweb_field *pairs;
    uint32_t count;
    uint32_t steps;
};

static bool match_parts(struct match *m, uint32_t part, struct luaweb_slice path);

/* Tries every end of a variable's value, the longest first; a value holds no slash. */
static bool match_value(struct match *m, uint32_t part, struct luaweb_slice path)
{
    const char *slash = memchr(path.data, '/', path.size);
    size_t longest = slash ? (size_t)(slash - path.data) : path.size;
    uint32_t slot = m->count++;
    for (size_t size = longest + 1; size-- > 0;) {
        m->count = slot + 1;
        struct luaweb_slice value = lw_slice(path.data, size);
        m->pairs[slot] = (struct luaweb_field){m->template->parts[part].text, value};
        if (match_parts(m, part + 1, lw_slice(path.data + size, path.size - size))
            && escapes_valid(value))
            return true;
    }
    m->count = slot;
    return false;
}

static bool match_parts(struct match *m, uint32_t part, struct luaweb_slice path)
{
    if (++m->steps > MATCH_STEPS)
        return false;
    if (part == m->template->part_count)
        return path.size == 0;
    const struct lw_part *p = &m->template->parts[part];
    switch (p->kind) {
    case LW_PART_LITERAL:
        if (path.size < p->text.size
            || memcmp(path.data, p->text.data, p->text.size) != 0)
            return false;
        return match_parts(
            m, part + 1, lw_slice(path.data + p->text.size, path.size - p->text.size));
    case LW_PART_SEGMENT:
        if (path.size > 0 && path.data[0] == '/'
            && match_value(m, part, lw_slice(path.data + 1, path.size - 1)))
            return true;
        return match_parts(m, part + 1, path);
    default: return match_value(m, part, path);
    }
}

bool lw_template_match(const struct lw_template *template, struct luaweb_slice path,
                       struct luaweb_field *pairs, uint32_t *count)
{
    struct match m = {template, pairs, 0, 0};
    if (!match_parts(&m, 0, path))
        return false;
    *count = m.count;
    return true;
}

/* What a part weighs: a longer literal beats a shorter one, a literal beats a variable,
 * a variable beats an optional segment. */
static size_t weight(const struct lw_template *t, uint32_t part)
{
    if (part >= t->part_count)
        return 2;
    switch (t->parts[part].kind) {
    case LW_PART_LITERAL: return 3 + t->parts[part].text.size;
    case LW_PART_VARIABLE: return 1;
    default: return 0;
    }
}

int lw_template_compare(const struct lw_template *a, const struct lw_template *b)
{
    uint32_t parts = a->part_count > b->part_count ? a->part_count : b->part_count;
    for (uint32_t i = 0; i < parts; i++) {
        size_t x = weight(a, i);
        size_t y = weight(b, i);
        if (x != y)
            return x > y ? -1 : 1;
    }
    return 0;
}
