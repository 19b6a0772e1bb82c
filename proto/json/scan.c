#include "proto/json/scan.h"

#include "proto/json/fault.h"
#include "proto/json/keys.h"
#include "proto/json/skip.h"
#include "proto/number/decimal.h"
#include "proto/number/number.h"
#include "proto/text.h"

#include <assert.h>
#include <string.h>

enum {
    CUTS_AT_FIRST = 8,
    CUT_TEXT_MAX = 12, /* its number in the envelope */
    ROOM_FOR_MARKS = 64
};

/* Where a value stands, as far as it matters for what is cut. */
enum place { PLACE_ROOT, PLACE_INPUTS, PLACE_INPUT, PLACE_ELSEWHERE };

struct scanner {
    struct json_scan *scan;
    const char *text, *end;
    const struct work *work;
    struct error *error;
    size_t envelope_room;
    size_t rest, rest_max; /* bytes of the text that the envelope says */
    struct json_cut *cuts;
    int cut_room;
    struct json_keys keys;
    int depth;
};

/* All functions here that return a place in the text return where they stopped, or NULL when the
 * error is said. */

static const char *scan_value(struct scanner *s, const char *at, enum place place);

static const char *expected(struct scanner *s, const char *at, const char *what)
{
    struct json_fault fault = {at, what};

    json_fault_say(&fault, s->text, s->end, NULL, s->error);
    return NULL;
}

static const char *no_memory(struct scanner *s, size_t bytes)
{
    json_fault_memory(bytes, "the scan of a JSON text", NULL, s->error);
    return NULL;
}

/* ------------------------------------------------------------------------------------- envelope */

/* A longer envelope lies in new memory; the old one goes with the request. */
static bool grow(struct scanner *s, size_t size)
{
    size_t room = 2 * (s->scan->envelope_size + size);
    char *envelope = s->work->memory->get(s->work->memory, room);

    if (!envelope)
        return no_memory(s, room) != NULL;
    memcpy(envelope, s->scan->envelope, s->scan->envelope_size);
    s->scan->envelope = envelope;
    s->envelope_room = room;
    return true;
}

/* Appends to the envelope. */
static bool put(struct scanner *s, const char *bytes, size_t size)
{
    if (size > s->envelope_room - s->scan->envelope_size && !grow(s, size))
        return false;
    memcpy(s->scan->envelope + s->scan->envelope_size, bytes, size);
    s->scan->envelope_size += size;
    return true;
}

/* Counts bytes of the text at `at` that stay in the envelope. */
static bool count(struct scanner *s, const char *at, size_t size)
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

static const char *keep(struct scanner *s, const char *at, size_t size)
{
    return count(s, at, size) && put(s, at, size) ? at + size : NULL;
}

static const char *scan_literal(struct scanner *s, const char *at, const char *literal)
{
    size_t size = strlen(literal);

    if ((size_t)(s->end - at) < size || memcmp(at, literal, size) != 0)
        return expected(s, at, "a JSON value");
    return keep(s, at, size);
}

static const char *scan_number(struct scanner *s, const char *at)
{
    const char *end = number_end(at, s->end);

    if (!end)
        return expected(s, at, json_expected(at, s->end, "a JSON value"));
    bool kept = count(s, at, (size_t)(end - at)) && put(s, "\"" JSON_NUMBER_MARK, 2) &&
                put(s, at, (size_t)(end - at)) && put(s, "\"", 1);
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
        if (!put(s, at, (size_t)(escape - at)) || !put(s, is_nul ? TEXT_NUL : escape, 2))
            return false;
        at = escape + (is_nul ? sizeof(nul) - 1 : 2);
    }
    return put(s, at, (size_t)(end - at));
}

/* A string of the envelope. */
static const char *scan_string(struct scanner *s, const char *at, struct json_string *string)
{
    struct json_fault fault;

    if (!json_string_check(string, at, s->end, &fault))
        return expected(s, fault.at, fault.expected);
    const char *end = string->end + 1;
    if (!string->has_nul)
        return keep(s, at, (size_t)(end - at));
    return count(s, at, (size_t)(end - at)) && put_with_nuls(s, at, end) ? end : NULL;
}

/* ----------------------------------------------------------------------------------- cut values */

static bool make_room_for_cut(struct scanner *s)
{
    int room = s->cut_room > 0 ? 2 * s->cut_room : CUTS_AT_FIRST;

    if (s->scan->cut_count < s->cut_room)
        return true;
    struct json_cut *cuts = s->work->memory->get(s->work->memory, (size_t)room * sizeof(*cuts));
    if (!cuts)
        return no_memory(s, (size_t)room * sizeof(*cuts)) != NULL;
    if (s->cut_room > 0)
        memcpy(cuts, s->cuts, (size_t)s->cut_room * sizeof(*cuts));
    s->scan->cuts = s->cuts = cuts;
    s->cut_room = room;
    return true;
}

static const char *cut_value(struct scanner *s, const char *at)
{
    char digits[CUT_TEXT_MAX];
    struct text number;
    const char *end = at;
    struct json_fault fault;

    switch (json_skip(&end, s->end, s->depth, s->work, &fault)) {
    case ERROR_NONE:
        break;
    case ERROR_CANCELLED:
        json_fault_stopped(NULL, s->error);
        return NULL;
    default:
        return expected(s, fault.at, fault.expected);
    }
    if (!make_room_for_cut(s))
        return NULL;
    text_init(&number, digits, sizeof(digits));
    text_int(&number, s->scan->cut_count);
    s->cuts[s->scan->cut_count++] =
        (struct json_cut){(size_t)(at - s->text), (size_t)(end - at), s->depth};
    return count(s, at, number.size) && put(s, number.data, number.size) ? end : NULL;
}

/* -------------------------------------------------------------------------------- nested values */

static bool push_key(struct scanner *s, const char *at, const struct json_string *string,
                     struct span *value)
{
    struct memory *memory = s->work->memory;
    size_t size = (size_t)(string->end - string->begin);

    *value = (struct span){string->begin, size};
    if (string->escaped) {
        char *decoded = memory->get(memory, size);
        if (!decoded)
            return no_memory(s, size) != NULL;
        *value = (struct span){decoded, json_string_decode(string, decoded)};
    }
    if (!json_keys_push(&s->keys, (struct json_key){*value, at}, memory))
        return no_memory(s, s->keys.room * 2 * sizeof(struct json_key)) != NULL;
    return true;
}

static bool is_key(const struct span *key, const char *name)
{
    return key->size == strlen(name) && memcmp(key->data, name, key->size) == 0;
}

static const char *scan_id(struct scanner *s, const char *at)
{
    struct json_string string;
    const char *end = scan_string(s, at, &string);

    if (end && !string.escaped) {
        s->scan->id_offset = (size_t)(at - s->text);
        s->scan->id_size = (size_t)(end - at);
    }
    return end;
}

/* The value of a member, given where its object stands: cut out, or scanned. */
static const char *scan_member_value(struct scanner *s, const char *at, enum place place,
                                     const struct span *key)
{
    switch (place) {
    case PLACE_ROOT:
        if (is_key(key, "id") && *at == '"')
            return scan_id(s, at);
        return scan_value(s, at, is_key(key, "inputs") ? PLACE_INPUTS : PLACE_ELSEWHERE);
    case PLACE_INPUTS:
        return *at == '{' ? scan_value(s, at, PLACE_INPUT) : cut_value(s, at);
    case PLACE_INPUT:
        if (is_key(key, "data") && *at != 'n')
            return cut_value(s, at);
        break;
    case PLACE_ELSEWHERE:
        break;
    }
    return scan_value(s, at, PLACE_ELSEWHERE);
}

static const char *scan_member(struct scanner *s, const char *at, enum place place)
{
    struct json_string string;
    struct span key;
    const char *begin = at;

    if (at == s->end || *at != '"')
        return expected(s, at, "a key");
    at = scan_string(s, at, &string);
    if (!at || !push_key(s, begin, &string, &key))
        return NULL;
    at = decimal_space(at, s->end);
    if (at == s->end || *at != ':')
        return expected(s, at, "':'");
    at = keep(s, at, 1);
    if (!at)
        return NULL;
    at = decimal_space(at, s->end);
    return at == s->end ? expected(s, at, "a JSON value") : scan_member_value(s, at, place, &key);
}

static const char *scan_item(struct scanner *s, const char *at, enum place place)
{
    return scan_value(s, at, place == PLACE_INPUTS ? PLACE_INPUT : PLACE_ELSEWHERE);
}

/* An array or an object: `part` scans what stands between its commas. */
static const char *scan_parts(struct scanner *s, const char *at, enum place place, char close,
                              const char *(*part)(struct scanner *, const char *, enum place))
{
    if (s->depth++ == JSON_DEPTH_MAX)
        return expected(s, at, JSON_DEPTH_EXPECTED);
    at = keep(s, at, 1);
    if (!at)
        return NULL;
    at = decimal_space(at, s->end);
    bool more = at == s->end || *at != close;
    while (more) {
        at = part(s, at, place);
        if (!at)
            return NULL;
        at = decimal_space(at, s->end);
        more = at != s->end && *at == ',';
        if (more && !(at = keep(s, at, 1)))
            return NULL;
        if (more)
            at = decimal_space(at, s->end);
    }
    s->depth--;
    if (at == s->end || *at != close)
        return expected(s, at, close == '}' ? "',' or '}'" : "',' or ']'");
    return keep(s, at, 1);
}

static const char *scan_object(struct scanner *s, const char *at, enum place place)
{
    size_t first_key = s->keys.count;

    at = scan_parts(s, at, place, '}', scan_member);
    if (!at)
        return NULL;
    const struct json_key *repeated = json_keys_pop(&s->keys, first_key);
    if (repeated) {
        error_set(s->error, ERROR_INVALID_JSON, NULL,
                  "byte %zu of the JSON text repeats the key \"%.*s\" of its object",
                  (size_t)(repeated->at - s->text),
                  (int)(repeated->value.size < 64 ? repeated->value.size : 64),
                  repeated->value.data);
        return NULL;
    }
    return at;
}

static const char *scan_value(struct scanner *s, const char *at, enum place place)
{
    struct json_string string;

    switch (at == s->end ? '\0' : *at) {
    case '{':
        return scan_object(s, at, place);
    case '[':
        return scan_parts(s, at, place == PLACE_INPUTS ? PLACE_INPUTS : PLACE_ELSEWHERE, ']',
                          scan_item);
    case '"':
        return scan_string(s, at, &string);
    case 't':
        return scan_literal(s, at, "true");
    case 'f':
        return scan_literal(s, at, "false");
    case 'n':
        return scan_literal(s, at, "null");
    default:
        return scan_number(s, at);
    }
}

static const char *scan_text(struct scanner *s, enum place root)
{
    const char *at = scan_value(s, decimal_space(s->text, s->end), root);

    if (!at)
        return NULL;
    at = decimal_space(at, s->end);
    return at == s->end ? at : expected(s, at, "nothing after the JSON value");
}

static enum error_code scan_root(struct json_scan *scan, const char *text, size_t size,
                                 size_t rest_max, enum place root, const struct work *work,
                                 struct error *error)
{
    size_t room = (size < rest_max ? size : rest_max) + ROOM_FOR_MARKS;
    struct scanner s = {.scan = scan,
                        .text = text,
                        .end = text + size,
                        .work = work,
                        .error = error,
                        .envelope_room = room,
                        .rest_max = rest_max};

    *scan = (struct json_scan){.text = text, .size = size};
    scan->envelope = work->memory->get(work->memory, room);
    if (!scan->envelope)
        return json_fault_memory(room, "the scan of a JSON text", NULL, error);
    if (!scan_text(&s, root) || !put(&s, "", 1))
        return error->code;
    assert(s.depth == 0);
    scan->envelope_size--; /* its terminator does not count */
    return ERROR_NONE;
}

enum error_code json_scan(struct json_scan *scan, const char *text, size_t size, size_t rest_max,
                          const struct work *work, struct error *error)
{
    return scan_root(scan, text, size, rest_max, PLACE_ROOT, work, error);
}

enum error_code json_scan_tensor(struct json_scan *scan, const char *text, size_t size,
                                 size_t rest_max, const struct work *work, struct error *error)
{
    return scan_root(scan, text, size, rest_max, PLACE_INPUT, work, error);
}

enum error_code json_scan_whole(struct json_scan *scan, const char *text, size_t size,
                                const struct work *work, struct error *error)
{
    return scan_root(scan, text, size, size, PLACE_ELSEWHERE, work, error);
}
