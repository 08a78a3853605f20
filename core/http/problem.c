/* SPDX-License-Identifier: MIT
 *
 * Writes default bodies.  All that is ours fits by far; the detail takes what room is
 * left, but for what follows it (the id has LW_ID_MOST octets at most). */
#include "http/problem.h"

#include <string.h>

#include "base/require.h"
#include "base/slice.h"
#include "base/status.h"
#include "base/utf8.h"
#include "http/accept.h"

#define CUT            "..."
#define BEHIND         320 /* octets kept for what follows the detail */
#define LONGEST_ESCAPE 6   /* of what stands for one character: &quot; or \u001f */

/* Writes one character of a detail. */
typedef void put_character(struct lw_problem *problem, struct luaweb_slice character);

static void put_slice(struct lw_problem *problem, struct luaweb_slice slice)
{
    memcpy(problem->text + problem->size, slice.data, slice.size);
    problem->size += slice.size;
}

static void put(struct lw_problem *problem, const char *text)
{
    put_slice(problem, lw_slice(text, strlen(text)));
}

static void put_number(struct lw_problem *problem, int status)
{
    char digits[] = {(char)('0' + status / 100), (char)('0' + status / 10 % 10),
                     (char)('0' + status % 10)};
    put_slice(problem, lw_slice(digits, sizeof digits));
}

/* "404 Not Found", or the number alone. */
static void put_status(struct lw_problem *problem, int status)
{
    const char *reason = lw_status_reason(status);
    put_number(problem, status);
    if (*reason)
        put(problem, " ");
    put(problem, reason);
}

/* U+0000..U+001F, U+007F..U+009F. */
static bool is_control(struct luaweb_slice character)
{
    unsigned char first = (unsigned char)character.data[0];
    if (character.size == 1)
        return first < 0x20 || first == 0x7f;
    return first == 0xc2 && (unsigned char)character.data[1] < 0xa0;
}

static void put_plain(struct lw_problem *problem, struct luaweb_slice character)
{
    put_slice(problem, is_control(character) ? LW_SLICE(" ") : character);
}

static void put_html(struct lw_problem *problem, struct luaweb_slice character)
{
    switch (character.data[0]) {
    case '&': put(problem, "&amp;"); break;
    case '<': put(problem, "&lt;"); break;
    case '>': put(problem, "&gt;"); break;
    case '"': put(problem, "&quot;"); break;
    case '\'': put(problem, "&#39;"); break;
    default: put_plain(problem, character);
    }
}

/* RFC 8259 §7. */
static void put_json(struct lw_problem *problem, struct luaweb_slice character)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char octet = (unsigned char)character.data[0];
    if (octet == '"' || octet == '\\') {
        put(problem, "\\");
        put_slice(problem, character);
    } else if (octet < 0x20) {
        char digits[] = {hex[octet >> 4], hex[octet & 15]};
        put(problem, "\\u00");
        put_slice(problem, lw_slice(digits, sizeof digits));
    } else {
        put_slice(problem, character);
    }
}

/* As much of the detail as there is room for. */
static void put_detail(struct lw_problem *problem, struct luaweb_slice detail,
                       put_character *put_one)
{
    const size_t end = LW_PROBLEM_SIZE - BEHIND - LONGEST_ESCAPE;
    for (size_t at = 0; at < detail.size;) {
        if (problem->size > end) {
            put(problem, CUT);
            return;
        }
        const char *data = detail.data + at;
        size_t size = lw_utf8_size(data, detail.size - at);
        if (size > 0)
            put_one(problem, lw_slice(data, size));
        else
            put(problem, "\xef\xbf\xbd"); /* U+FFFD */
        at += size > 0 ? size : 1;
    }
}

static void write_text(struct lw_problem *problem, int status,
                       struct luaweb_slice detail, struct luaweb_slice id)
{
    put_status(problem, status);
    if (detail.size > 0)
        put(problem, ": ");
    put_detail(problem, detail, put_plain);
    put(problem, "\n");
    if (id.size == 0)
        return;
    put(problem, "Request id: ");
    put_slice(problem, id);
    put(problem, "\n");
}

static void write_html(struct lw_problem *problem, int status,
                       struct luaweb_slice detail, struct luaweb_slice id)
{
    put(problem, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                 "<meta charset=\"utf-8\">\n<title>");
    put_status(problem, status);
    put(problem, "</title>\n</head>\n<body>\n<h1>");
    put_status(problem, status);
    put(problem, "</h1>\n");
    if (detail.size > 0) {
        put(problem, "<p>");
        put_detail(problem, detail, put_html);
        put(problem, "</p>\n");
    }
    if (id.size > 0) {
        put(problem, "<p>Request id: <code>");
        put_slice(problem, id);
        put(problem, "</code></p>\n");
    }
    put(problem, "</body>\n</html>\n");
}

/* RFC 9457 §3.1. */
static void write_json(struct lw_problem *problem, int status,
                       struct luaweb_slice detail, struct luaweb_slice id)
{
    const char *title = lw_status_reason(status);
    put(problem, "{");
    if (*title) {
        put(problem, "\"title\":\"");
        put(problem, title);
        put(problem, "\",");
    }
    put(problem, "\"status\":");
    put_number(problem, status);
    if (detail.size > 0) {
        put(problem, ",\"detail\":\"");
        put_detail(problem, detail, put_json);
        put(problem, "\"");
    }
    if (id.size > 0) {
        put(problem, ",\"request_id\":\"");
        put_slice(problem, id);
        put(problem, "\"");
    }
    put(problem, "}\n");
}

#define TEXT    "text/plain; charset=utf-8"
#define HTML    "text/html; charset=utf-8"
#define PROBLEM "application/problem+json"
#define UTF8    "; charset=utf-8" /* which JSON is, so that a client may ask for it */

/* What is offered, the one that we like best first. */
static const struct {
    const char *offer;
    const char *type;
    void (*write)(struct lw_problem *problem, int status, struct luaweb_slice detail,
                  struct luaweb_slice id);
} forms[] = {
    {TEXT,                    TEXT,    write_text},
    {HTML,                    HTML,    write_html},
    {PROBLEM UTF8,            PROBLEM, write_json},
    {"application/json" UTF8, PROBLEM, write_json},
};

#define FORMS (sizeof forms / sizeof *forms)

void lw_problem_write(struct luaweb_fields headers, int status,
                      struct luaweb_slice detail, struct luaweb_slice id,
                      struct lw_problem *problem)
{
    lw_require(status >= 100 && status <= 999);
    struct luaweb_slice offers[FORMS];
    for (size_t i = 0; i < FORMS; i++)
        offers[i] = lw_slice(forms[i].offer, strlen(forms[i].offer));
    int choice = lw_accept_choose(LW_ACCEPT_MEDIA_TYPE, headers, offers, FORMS);
    size_t form = choice < 0 ? 0 : (size_t)choice;
    problem->type = lw_slice(forms[form].type, strlen(forms[form].type));
    problem->size = 0;
    forms[form].write(problem, status, detail, id);
}
