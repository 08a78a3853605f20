/* SPDX-License-Identifier: MIT
 *
 * Reading a template (RFC 6570 §2).  Names and literals lie in a copy of the text,
 * where literals are brought into normal form. */
#include "route/template.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "route/path.h"

/* clang-format off */
const struct lw_operator_facts lw_operators[8] = {
    /*                         symbol first separator named stops */
    [LW_OPERATOR_PARAMETER] = { ';',  ';',  ';',      true,  "/?#" },
    [LW_OPERATOR_LABEL]     = { '.',  '.',  '.',      false, "/?#" },
    [LW_OPERATOR_SIMPLE]    = { 0,    0,    ',',      false, "/?#" },
    [LW_OPERATOR_SEGMENT]   = { '/',  '/',  '/',      false, "?#"  },
    [LW_OPERATOR_QUERY]     = { '?',  '?',  '&',      true,  "#"   },
    [LW_OPERATOR_MORE]      = { '&',  '&',  '&',      true,  "#"   },
    [LW_OPERATOR_FRAGMENT]  = { '#',  '#',  ',',      false, ""    },
    [LW_OPERATOR_RESERVED]  = { '+',  0,    ',',      false, ""    },
};
/* clang-format on */

/* What is read, and where to. */
struct reader {
    struct lw_template *template;
    char *at;
    char *end;
    char *spare; /* room for names in normal form */
};

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (lw_lower(c) >= 'a' && lw_lower(c) <= 'z');
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (lw_lower(c) >= 'a' && lw_lower(c) <= 'f');
}

/* How many octets the varchar at `at` has (RFC 6570 §2.3), 0: it is none. */
static size_t varchar_size(const char *at, const char *end)
{
    if (at == end)
        return 0;
    if (is_alphanumeric(*at) || *at == '_')
        return 1;
    return *at == '%' && end - at >= 3 && is_hex(at[1]) && is_hex(at[2]) ? 3 : 0;
}

static const char *read_name(struct reader *r, struct lw_variable *variable)
{
    const char *start = r->at;
    size_t size = varchar_size(r->at, r->end);
    while (size > 0) {
        r->at += size;
        bool is_dot = r->at < r->end && *r->at == '.';
        size = varchar_size(r->at + is_dot, r->end);
        if (size > 0)
            size += is_dot;
    }
    variable->name = lw_slice(start, (size_t)(r->at - start));
    return variable->name.size > 0 ? NULL : "has an expression that is not {names}";
}

static const char *read_key(struct reader *r, struct lw_variable *variable)
{
    variable->key = variable->name;
    if (lw_path_is_normal(variable->name))
        return NULL;
    size_t size = 0;
    if (!lw_path_normalise(variable->name, r->spare, &size))
        return "has a name that is not UTF-8";
    variable->key = lw_slice(r->spare, size);
    r->spare += size;
    return NULL;
}

/* What may follow a name: * or :1 to :9999 (RFC 6570 §2.4). */
static const char *read_modifier(struct reader *r, struct lw_variable *variable)
{
    if (r->at < r->end && *r->at == '*') {
        r->at++;
        variable->is_exploded = true;
        return NULL;
    }
    if (r->at == r->end || *r->at != ':')
        return NULL;
    r->at++;
    for (int digits = 0; digits < 4 && r->at < r->end; digits++, r->at++) {
        if (*r->at < '0' + (digits == 0) || *r->at > '9')
            break;
        variable->prefix = variable->prefix * 10 + (uint32_t)(*r->at - '0');
    }
    return variable->prefix > 0 ? NULL : "has a prefix that is not :1 to :9999";
}

static const char *read_variable(struct reader *r, struct lw_expression *expression)
{
    struct lw_template *t = r->template;
    struct lw_variable variable = {0};
    const char *why = read_name(r, &variable);
    if (!why)
        why = read_key(r, &variable);
    if (!why)
        why = read_modifier(r, &variable);
    if (why)
        return why;
    if (t->variable_count == LW_TEMPLATE_VARIABLES)
        return "has more than 16 variables";
    for (uint32_t i = 0; i < t->variable_count; i++)
        if (lw_slice_equal(t->variables[i].key, variable.key))
            return "names a variable twice";
    t->variables[t->variable_count++] = variable;
    expression->count++;
    return NULL;
}

static const char *read_operator(struct reader *r, struct lw_expression *expression)
{
    expression->op = LW_OPERATOR_SIMPLE;
    if (r->at == r->end)
        return NULL;
    if (*r->at && strchr("=,!@|", *r->at))
        return "has an operator that RFC 6570 keeps for later";
    for (size_t i = 0; i < sizeof lw_operators / sizeof *lw_operators; i++) {
        if (lw_operators[i].symbol != *r->at)
            continue;
        expression->op = (uint8_t)i;
        r->at++;
        return NULL;
    }
    return NULL;
}

static void sum_up(struct lw_expression *expression,
                   const struct lw_variable *variables)
{
    const struct lw_operator_facts *facts = &lw_operators[expression->op];
    bool takes_any =
        facts->separator == ',' && !variables[expression->count - 1].prefix;
    for (uint32_t i = 0; i < expression->count; i++) {
        takes_any |= variables[i].is_exploded;
        expression->has_prefix |= variables[i].prefix > 0 && !facts->is_named;
    }
    expression->most = takes_any ? 0 : expression->count;
}

/* Reads an expression; r->at is behind its brace, and then behind the closing one. */
static const char *read_expression(struct reader *r, struct lw_part *part)
{
    struct lw_template *t = r->template;
    char *end = r->end;
    r->end = memchr(r->at, '}', (size_t)(end - r->at));
    if (!r->end)
        return "has a { without its }";
    if (t->expression_count == LW_TEMPLATE_VARIABLES)
        return "has more than 16 variables";
    part->expression = t->expression_count;
    struct lw_expression *expression = &t->expressions[t->expression_count++];
    *expression = (struct lw_expression){.first = (uint8_t)t->variable_count};
    const char *why = read_operator(r, expression);
    if (!why)
        why = read_variable(r, expression);
    while (!why && r->at < r->end && *r->at == ',') {
        r->at++;
        why = read_variable(r, expression);
    }
    if (!why && r->at < r->end)
        why = "has an expression that is not {names}";
    if (!why)
        sum_up(expression, &t->variables[expression->first]);
    r->at = r->end + 1;
    r->end = end;
    return why;
}

/* Reads up to the next brace (RFC 6570 §2.1; the apostrophe is allowed by its erratum
 * 6937). */
static const char *read_literal(struct reader *r, struct lw_part *part)
{
    char *start = r->at;
    for (; r->at < r->end && *r->at != '{'; r->at++) {
        unsigned char c = (unsigned char)*r->at;
        if (c == '}')
            return "has a } without its {";
        if (c <= ' ' || c == 0x7f)
            return "has a space or a control octet";
        if (strchr("\"<>\\^`|", c))
            return "has one of the octets \" < > \\ ^ ` | outside of an expression";
        if (c == '%' && varchar_size(r->at, r->end) == 0)
            return "has a % that is not followed by two hexadecimal digits";
    }
    struct luaweb_slice text = lw_slice(start, (size_t)(r->at - start));
    size_t size = text.size;
    if (!lw_path_is_normal(text) && !lw_path_normalise(text, start, &size))
        return "is not UTF-8";
    part->literal = lw_slice(start, size);
    return NULL;
}

static const char *read_parts(struct reader *r)
{
    struct lw_template *t = r->template;
    const char *why = NULL;
    while (!why && r->at < r->end) {
        struct lw_part *part = &t->parts[t->part_count++];
        *part = (struct lw_part){0};
        if (*r->at == '{') {
            r->at++;
            why = read_expression(r, part);
        } else {
            why = read_literal(r, part);
        }
    }
    return why;
}

static size_t count_octet(struct luaweb_slice text, char octet, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size && count < most; i++)
        count += text.data[i] == octet;
    return count;
}

/* One block for all, not larger than the text wants.  Its expressions end where what
 * follows is aligned. */
static void reserve(struct reader *r, struct luaweb_slice text)
{
    size_t expressions = count_octet(text, '{', LW_TEMPLATE_VARIABLES);
    size_t variables = expressions + count_octet(text, ',', LW_TEMPLATE_VARIABLES);
    size_t parts = 2 * expressions + 2; /* one more than are kept */
    size_t size = expressions * sizeof(struct lw_expression);
    size += (size_t) - (ptrdiff_t)size % alignof(struct lw_variable);
    struct lw_template *t =
        lw_alloc(sizeof *t + size + variables * sizeof(struct lw_variable)
                 + parts * sizeof(struct lw_part) + 3 * text.size);
    *t = (struct lw_template){.expressions = (struct lw_expression *)(t + 1)};
    t->variables = (struct lw_variable *)((char *)(t + 1) + size);
    t->parts = (struct lw_part *)(t->variables + variables);
    r->template = t;
    r->at = (char *)(t->parts + parts);
    r->end = r->spare = r->at + text.size;
    t->text = lw_slice(r->spare + text.size, text.size);
    if (text.size == 0)
        return;
    memcpy(r->at, text.data, text.size);
    memcpy(r->spare + text.size, text.data, text.size);
}

struct lw_template *lw_template_new(struct luaweb_slice text, const char **why)
{
    if (text.size > LW_TEMPLATE_SIZE) {
        *why = "is longer than 8192 octets";
        return NULL;
    }
    struct reader reader;
    reserve(&reader, text);
    *why = read_parts(&reader);
    if (!*why)
        return reader.template;
    lw_template_free(reader.template);
    return NULL;
}

void lw_template_free(struct lw_template *template)
{
    free(template);
}

/* The expression at a part, or NULL. */
static const struct lw_expression *expression_at(const struct lw_template *t,
                                                 uint32_t at)
{
    const struct lw_part *part = &t->parts[at];
    return part->literal.size > 0 ? NULL : &t->expressions[part->expression];
}

static bool is_query(const struct lw_expression *expression)
{
    return expression
           && (expression->op == LW_OPERATOR_QUERY
               || expression->op == LW_OPERATOR_MORE);
}

static const char *check_literal(const struct lw_part *part)
{
    if (memchr(part->literal.data, '?', part->literal.size))
        return "has literal text in its query: only {?name} and {&name} can be there";
    if (memchr(part->literal.data, '#', part->literal.size))
        return "has a #: no request carries a fragment";
    return NULL;
}

/* Whether all that the second could take is taken by the first already. */
static bool takes_all(const struct lw_template *t, const struct lw_expression *first,
                      const struct lw_expression *second)
{
    if (!first || t->variables[first->first + first->count - 1].prefix > 0)
        return false;
    if (second->op == LW_OPERATOR_SIMPLE)
        return first->op == LW_OPERATOR_SIMPLE || first->op == LW_OPERATOR_RESERVED;
    return second->op == LW_OPERATOR_RESERVED && first->op == LW_OPERATOR_RESERVED;
}

static const char *check_part(const struct lw_template *t, uint32_t at)
{
    const struct lw_expression *before = at > 0 ? expression_at(t, at - 1) : NULL;
    const struct lw_expression *expression = expression_at(t, at);
    if (is_query(before) && !is_query(expression))
        return "has something behind its query";
    if (!expression)
        return check_literal(&t->parts[at]);
    if (expression->op == LW_OPERATOR_FRAGMENT)
        return "has {#...}: no request carries a fragment";
    if (expression->op == LW_OPERATOR_MORE && !is_query(before))
        return "has {&...} without {?...} before it";
    if (expression->op == LW_OPERATOR_QUERY && is_query(before))
        return "has {?...} behind its query: go on with {&...}";
    if (takes_all(t, before, expression))
        return "has two variables with nothing between them";
    return NULL;
}

static bool starts_path(const struct lw_template *t)
{
    const struct lw_expression *expression = expression_at(t, 0);
    return expression ? expression->op == LW_OPERATOR_SEGMENT
                      : t->parts[0].literal.data[0] == '/';
}

int lw_template_path(const struct lw_template *template, const char **why)
{
    int path = 0;
    *why = template->part_count == 0 ? "is empty" : NULL;
    for (uint32_t i = 0; !*why && i < template->part_count; i++) {
        *why = check_part(template, i);
        path += !is_query(expression_at(template, i));
    }
    if (!*why && !starts_path(template))
        *why = "does not start with /";
    return *why ? -1 : path;
}
