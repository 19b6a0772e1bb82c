#include "proto/json/scanner.h"

#include "proto/json/fault.h"
#include "proto/json/skip.h"
#include "proto/number/number.h"

enum { CUTS_AT_FIRST = 8 };

const char *scanner_expected(struct scanner *s, const char *at, const char *what)
{
    struct json_fault fault = {at, what};

    json_fault_say(&fault, s->text, s->end, NULL, s->error);
    return NULL;
}

const char *scanner_no_memory(struct scanner *s, size_t bytes)
{
    json_fault_memory(bytes, "the scan of a JSON text", NULL, s->error);
    return NULL;
}

/* A longer envelope lies in new memory; the old one goes with the request. */
bool scanner_grow(struct scanner *s, size_t size)
{
    size_t room = 2 * (s->scan->envelope_size + size);
    char *envelope = s->work->memory->get(s->work->memory, room);

    if (!envelope)
        return scanner_no_memory(s, room) != NULL;
    memcpy(envelope, s->scan->envelope, s->scan->envelope_size);
    s->scan->envelope = envelope;
    s->envelope_room = room;
    return true;
}

bool scanner_count(struct scanner *s, const char *at, size_t size)
{
    if (size > s->rest_max - s->rest) {
        error_set(s->error, ERROR_INVALID_JSON, NULL,
                  "at byte %zu the JSON text has more than %zu bytes that are no tensor's data",
                  (size_t)(at - s->text), s->rest_max);
        return false;
    }
    s->rest += size;
    return true;
}

/* --------------------------------------------------------------------------------------- values */

const char *scan_literal(struct scanner *s, const char *at, const char *literal)
{
    size_t size = strlen(literal);

    if ((size_t)(s->end - at) < size || memcmp(at, literal, size) != 0)
        return scanner_expected(s, at, "a JSON value");
    return scanner_keep(s, at, size);
}

const char *scan_number(struct scanner *s, const char *at)
{
    const char *end = number_end(at, s->end);

    if (!end)
        return scanner_expected(s, at, json_expected(at, s->end, "a JSON value"));
    bool kept = scanner_count(s, at, (size_t)(end - at)) &&
                scanner_put(s, "\"" JSON_NUMBER_MARK, 2) &&
                scanner_put(s, at, (size_t)(end - at)) && scanner_put(s, "\"", 1);
    return kept ? end : NULL;
}

/* A string that has a \u0000, with TEXT_NUL for each. */
static bool put_with_nuls(struct scanner *s, const char *at, const char *end)
{
    static const char nul[] = "\\u0000";
    const char *escape;

    while ((escape = memchr(at, '\\', (size_t)(end - at)))) {
        size_t size = (size_t)(end - escape) < sizeof(nul) - 1 ? 0 : sizeof(nul) - 1;
        bool is_nul = size > 0 && memcmp(escape, nul, size) == 0;
        if (!scanner_put(s, at, (size_t)(escape - at)) ||
            !scanner_put(s, is_nul ? TEXT_NUL : escape, 2))
            return false;
        at = escape + (is_nul ? sizeof(nul) - 1 : 2);
    }
    return scanner_put(s, at, (size_t)(end - at));
}

const char *scan_string(struct scanner *s, const char *at, struct json_string *string)
{
    struct json_fault fault;

    if (!json_string_check(string, at, s->end, &fault))
        return scanner_expected(s, fault.at, fault.expected);
    const char *end = string->end + 1;
    if (!string->has_nul)
        return scanner_keep(s, at, (size_t)(end - at));
    return scanner_count(s, at, (size_t)(end - at)) && put_with_nuls(s, at, end) ? end : NULL;
}

/* ----------------------------------------------------------------------------------- cut values */

static bool make_room_for_cut(struct scanner *s)
{
    int room = s->cut_room > 0 ? 2 * s->cut_room : CUTS_AT_FIRST;

    if (s->scan->cut_count < s->cut_room)
        return true;
    struct json_cut *cuts = s->work->memory->get(s->work->memory, (size_t)room * sizeof(*cuts));
    if (!cuts)
        return scanner_no_memory(s, (size_t)room * sizeof(*cuts)) != NULL;
    if (s->cut_room > 0)
        memcpy(cuts, s->cuts, (size_t)s->cut_room * sizeof(*cuts));
    s->scan->cuts = s->cuts = cuts;
    s->cut_room = room;
    return true;
}

const char *scan_cut(struct scanner *s, const char *at)
{
    char number[TEXT_INT_MAX];
    const char *end = at;
    struct json_fault fault;

    switch (json_skip(&end, s->end, s->depth, s->work, &fault)) {
    case ERROR_NONE:
        break;
    case ERROR_CANCELLED:
        json_fault_stopped(NULL, s->error);
        return NULL;
    default:
        return scanner_expected(s, fault.at, fault.expected);
    }
    if (!make_room_for_cut(s))
        return NULL;
    size_t size = (size_t)(text_put_int(number, s->scan->cut_count) - number);
    s->cuts[s->scan->cut_count++] =
        (struct json_cut){(size_t)(at - s->text), (size_t)(end - at), s->depth};
    return scanner_count(s, at, size) && scanner_put(s, number, size) ? end : NULL;
}
