#include "proto/json/scan.h"

#include "proto/json/fault.h"
#include "proto/json/keys.h"
#include "proto/json/skip.h"
#include "proto/number/number.h"
#include "proto/text.h"

#include <assert.h>
#include <string.h>

enum {
    CUTS_AT_FIRST = 8,
    CUT_TEXT_MAX = 12 /* its number in the envelope */
};

/* Where a value stands, as far as it matters for what is cut. */
enum place { PLACE_ROOT, PLACE_INPUTS, PLACE_INPUT, PLACE_ELSEWHERE };

struct scanner {
    struct json_scan *scan;
    const char *text, *end;
    const struct work *work;
    struct error *error;
    size_t envelope_room;
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

/* Appends to the envelope what is said for the text at `at`. */
static bool put(struct scanner *s, const char *at, const char *bytes, size_t size)
{
    if (size > s->envelope_room - s->scan->envelope_size) {
        error_set(s->error, ERROR_INVALID_JSON, NULL,
                  "at byte %zu the JSON text has more than %d bytes that are no tensor's data",
                  (size_t)(at - s->text), JSON_ENVELOPE_MAX);
        return false;
    }
    memcpy(s->scan->envelope + s->scan->envelope_size, bytes, size);
    s->scan->envelope_size += size;
    return true;
}

static const char *keep(struct scanner *s, const char *at, size_t size)
{
    return put(s, at, at, size) ? at + size : NULL;
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
    return keep(s, at, (size_t)(end - at));
}

/* A string of the envelope: the tree that it becomes ends strings at a NUL. */
static const char *scan_string(struct scanner *s, const char *at, struct json_string *string)
{
    struct json_fault fault;

    if (!json_string_check(string, at, s->end, &fault))
        return expected(s, fault.at, fault.expected);
    if (string->nul)
        return expected(s, string->nul, "no \\u0000 outside of a tensor's data");
    return keep(s, at, (size_t)(string->end + 1 - at));
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
    return put(s, at, number.data, number.size) ? end : NULL;
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

/* The value of a member, given where its object stands: cut out, or scanned. */
static const char *scan_member_value(struct scanner *s, const char *at, enum place place,
                                     const struct span *key)
{
    switch (place) {
    case PLACE_ROOT:
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
    at = json_space(at, s->end);
    if (at == s->end || *at != ':')
        return expected(s, at, "':'");
    at = keep(s, at, 1);
    if (!at)
        return NULL;
    at = json_space(at, s->end);
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
    at = json_space(at, s->end);
    bool more = at == s->end || *at != close;
    while (more) {
        at = part(s, at, place);
        if (!at)
            return NULL;
        at = json_space(at, s->end);
        more = at != s->end && *at == ',';
        if (more && !(at = keep(s, at, 1)))
            return NULL;
        if (more)
            at = json_space(at, s->end);
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
    const char *at = scan_value(s, json_space(s->text, s->end), root);

    if (!at)
        return NULL;
    at = json_space(at, s->end);
    return at == s->end ? at : expected(s, at, "nothing after the JSON value");
}

static enum error_code scan_root(struct json_scan *scan, const char *text, size_t size,
                                 enum place root, const struct work *work, struct error *error)
{
    /* A cut value may be shorter than its number, but not than its number and its key. */
    size_t room = size < JSON_ENVELOPE_MAX / 2 ? 2 * size : JSON_ENVELOPE_MAX;
    struct scanner s = {.scan = scan,
                        .text = text,
                        .end = text + size,
                        .work = work,
                        .error = error,
                        .envelope_room = room};

    *scan = (struct json_scan){.text = text, .size = size};
    scan->envelope = work->memory->get(work->memory, room + 1);
    if (!scan->envelope)
        return json_fault_memory(room + 1, "the scan of a JSON text", NULL, error);
    if (!scan_text(&s, root))
        return error->code;
    assert(s.depth == 0);
    scan->envelope[scan->envelope_size] = '\0';
    return ERROR_NONE;
}

enum error_code json_scan(struct json_scan *scan, const char *text, size_t size,
                          const struct work *work, struct error *error)
{
    return scan_root(scan, text, size, PLACE_ROOT, work, error);
}

enum error_code json_scan_tensor(struct json_scan *scan, const char *text, size_t size,
                                 const struct work *work, struct error *error)
{
    return scan_root(scan, text, size, PLACE_INPUT, work, error);
}
