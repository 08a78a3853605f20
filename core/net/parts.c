/* SPDX-License-Identifier: MIT
 *
 * Cutting parts out of content. */
#include "net/parts.h"

#include <string.h>
#include <sys/random.h>

#include "base/require.h"
#include "base/slice.h"
#include "http/range.h"
#include "machine/field_lines.h"
#include "machine/fields.h"

#define BOUNDARY_SIZE 32

static struct luaweb_slice copy(struct lw_request *request, struct luaweb_slice text)
{
    char *data = lw_arena_alloc(&request->arena, text.size + 1);
    if (text.size)
        memcpy(data, text.data, text.size);
    return lw_slice(data, text.size);
}

/* What no content can have by intent: nobody can guess it. */
static struct luaweb_slice new_boundary(struct lw_request *request)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char octets[BOUNDARY_SIZE / 2] = {0};
    char *text = lw_arena_alloc(&request->arena, BOUNDARY_SIZE);
    if (getrandom(octets, sizeof octets, GRND_NONBLOCK) < 0)
        memcpy(octets, &request->facts.id, sizeof request->facts.id);
    for (size_t i = 0; i < sizeof octets; i++) {
        text[2 * i] = digits[octets[i] >> 4];
        text[2 * i + 1] = digits[octets[i] & 15];
    }
    return lw_slice(text, BOUNDARY_SIZE);
}

/* The type of content that has several parts. */
static struct luaweb_slice type_of_parts(struct lw_request *request,
                                         struct luaweb_slice boundary)
{
    static const char head[] = "multipart/byteranges; boundary=";
    size_t size = sizeof head - 1 + boundary.size;
    char *text = lw_arena_alloc(&request->arena, size);
    memcpy(text, head, sizeof head - 1);
    memcpy(text + sizeof head - 1, boundary.data, boundary.size);
    return lw_slice(text, size);
}

/* What the app has written as the type of the content is that of the parts. */
static void move_type(struct lw_request *request, struct luaweb_slice *type)
{
    if (request->has_type)
        *type = lw_lines_take(&request->fields, "Content-Type", &request->arena);
    request->has_type = false;
}

/* Finds the ranges, and where there are several, what stands around them. */
static uint32_t find(struct lw_request *request, struct lw_range *ranges,
                     struct luaweb_slice *type, struct luaweb_slice *heads)
{
    struct lw_walk *walk = &request->walk;
    uint32_t count = 0;
    lw_range_read(request->facts.headers, walk->size, ranges, &count);
    request->has_parts = count > 1;
    if (!request->has_parts)
        return count;
    move_type(request, type);
    struct lw_range_parts parts = {
        .ranges = ranges,
        .count = count,
        .size = walk->size,
        .boundary = new_boundary(request),
        .type = *type,
    };
    for (uint32_t i = 0; i <= count; i++) {
        char *text =
            lw_arena_alloc(&request->arena, lw_range_part_write(&parts, i, NULL));
        heads[i] = lw_slice(text, lw_range_part_write(&parts, i, text));
    }
    *type = type_of_parts(request, parts.boundary);
    return count;
}

int lw_parts_begin(struct lw_request *request, struct luaweb_slice type)
{
    request->part_type = copy(request, lw_fields_type(&request->walk, type));
    return LUAWEB_REPLY_PART;
}

uint32_t lw_parts_choose(struct lw_request *request, double *first, double *last,
                         struct luaweb_slice *heads)
{
    struct lw_range ranges[LW_RANGES_MAX];
    uint32_t count = find(request, ranges, &request->part_type, heads);
    for (uint32_t i = 0; i < count; i++) {
        first[i] = (double)ranges[i].first;
        last[i] = (double)ranges[i].last;
    }
    request->is_parted = true;
    return count;
}

struct luaweb_slice lw_parts_cut(struct lw_request *request, struct luaweb_slice text,
                                 struct luaweb_slice *type)
{
    struct lw_range ranges[LW_RANGES_MAX];
    struct luaweb_slice heads[LW_RANGES_MAX + 1];
    uint32_t count = find(request, ranges, type, heads);
    lw_require(count > 0);
    if (count == 1)
        return lw_slice(text.data + ranges[0].first,
                        (size_t)(ranges[0].last - ranges[0].first + 1));
    size_t size = heads[count].size;
    for (uint32_t i = 0; i < count; i++)
        size += heads[i].size + (size_t)(ranges[i].last - ranges[i].first + 1);
    char *cut = lw_arena_alloc(&request->arena, size);
    char *at = cut;
    for (uint32_t i = 0; i < count; i++) {
        size_t octets = (size_t)(ranges[i].last - ranges[i].first + 1);
        memcpy(at, heads[i].data, heads[i].size);
        memcpy(at + heads[i].size, text.data + ranges[i].first, octets);
        at += heads[i].size + octets;
    }
    memcpy(at, heads[count].data, heads[count].size);
    return lw_slice(cut, size);
}
