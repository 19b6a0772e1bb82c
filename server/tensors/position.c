#include "server/tensors/position.h"

#include "proto/number/digits.h"
#include "proto/request/tensor_name.h"

#include <stdlib.h>
#include <string.h>

static bool read_position(struct position *position, const char *text)
{
    const char *at = digits_read(text, UINT64_MAX, &position->high);
    position->low = 0;
    if (at && *at == '-')
        at = digits_read(at + 1, UINT64_MAX, &position->low);
    return at && *at == '\0';
}

enum error_code position_parse(struct position *position, const char *source, const char *text,
                               struct error *error)
{
    position->source[0] = '\0';
    if (!source && !text)
        return ERROR_NONE;
    if (!source || !text)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Update-Source and Update-Position belong together");
    size_t size = strlen(source);
    if (size > SOURCE_NAME_MAX || !tensor_name_is_legal(source, size))
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Update-Source is '%.80s', allowed are 1 to %d letters, digits, '_', '.' "
                         "and '-'",
                         source, SOURCE_NAME_MAX);
    if (!read_position(position, text))
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "Update-Position is '%.80s', expected is a number, or two as in 17-0",
                         text);
    memcpy(position->source, source, size + 1);
    return ERROR_NONE;
}

static struct position *find(const struct positions *positions, const char *source)
{
    for (int i = 0; i < positions->count; i++)
        if (strcmp(positions->list[i].source, source) == 0)
            return &positions->list[i];
    return NULL;
}

bool position_is_above(const struct position *a, const struct position *b)
{
    return a->high > b->high || (a->high == b->high && a->low > b->low);
}

bool positions_passed(const struct positions *positions, const struct position *position)
{
    const struct position *last = find(positions, position->source);
    return last && !position_is_above(position, last);
}

static bool make_room(struct positions *positions, int more)
{
    int most = positions->count + more;
    if (most <= positions->room)
        return true;
    if (most > POSITIONS_MAX)
        return false;
    struct position *list = realloc(positions->list, (size_t)most * sizeof *list);
    if (!list)
        return false;
    positions->list = list;
    positions->room = most;
    return true;
}

bool positions_reserve(struct positions *positions, const struct position *position)
{
    return make_room(positions, !find(positions, position->source));
}

void positions_set(struct positions *positions, const struct position *position)
{
    struct position *last = find(positions, position->source);
    if (last)
        *last = *position;
    else
        positions->list[positions->count++] = *position;
}

static int count_new(const struct positions *positions, const struct positions *from)
{
    int more = 0;
    for (int i = 0; i < from->count; i++)
        more += !find(positions, from->list[i].source);
    return more;
}

bool positions_reserve_all(struct positions *positions, const struct positions *from,
                           const struct position *position)
{
    const char *source = position->source;
    bool is_new = *source && !find(positions, source) && !find(from, source);
    return make_room(positions, count_new(positions, from) + is_new);
}

bool positions_merge(struct positions *positions, const struct positions *from)
{
    if (!make_room(positions, count_new(positions, from)))
        return false;
    for (int i = 0; i < from->count; i++)
        if (!positions_passed(positions, &from->list[i]))
            positions_set(positions, &from->list[i]);
    return true;
}

void positions_release(struct positions *positions)
{
    free(positions->list);
    *positions = (struct positions){0};
}
