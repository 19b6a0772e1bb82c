#include "proto/json/scanner.h"

#include "proto/json/fault.h"
#include "proto/number/decimal.h"

#include <assert.h>

enum { ROOM_FOR_MARKS = 64 };

/* Where a value stands, as far as it matters for what is cut. */
enum place { PLACE_ROOT, PLACE_INPUTS, PLACE_INPUT, PLACE_ELSEWHERE };

static const char *scan_value(struct scanner *s, const char *at, enum place place);

static bool push_key(struct scanner *s, const char *at, const struct json_string *string,
                     struct span *value)
{
    struct memory *memory = s->work->memory;
    size_t size = (size_t)(string->end - string->begin);

    *value = (struct span){string->begin, size};
    if (string->escaped) {
        char *decoded = memory->get(memory, size);
        if (!decoded)
            return scanner_no_memory(s, size) != NULL;
        *value = (struct span){decoded, json_string_decode(string, decoded)};
    }
    if (!json_keys_push(&s->keys, (struct json_key){*value, at}, memory))
        return scanner_no_memory(s, s->keys.room * 2 * sizeof(struct json_key)) != NULL;
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
        return *at == '{' ? scan_value(s, at, PLACE_INPUT) : scan_cut(s, at);
    case PLACE_INPUT:
        if (is_key(key, "data") && *at != 'n')
            return scan_cut(s, at);
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
        return scanner_expected(s, at, "a key");
    at = scan_string(s, at, &string);
    if (!at || !push_key(s, begin, &string, &key))
        return NULL;
    at = decimal_space(at, s->end);
    if (at == s->end || *at != ':')
        return scanner_expected(s, at, "':'");
    at = scanner_keep(s, at, 1);
    if (!at)
        return NULL;
    at = decimal_space(at, s->end);
    return at == s->end ? scanner_expected(s, at, "a JSON value")
                        : scan_member_value(s, at, place, &key);
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
        return scanner_expected(s, at, JSON_DEPTH_EXPECTED);
    at = scanner_keep(s, at, 1);
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
        if (more && !(at = scanner_keep(s, at, 1)))
            return NULL;
        if (more)
            at = decimal_space(at, s->end);
    }
    s->depth--;
    if (at == s->end || *at != close)
        return scanner_expected(s, at, close == '}' ? "',' or '}'" : "',' or ']'");
    return scanner_keep(s, at, 1);
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
    return at == s->end ? at : scanner_expected(s, at, "nothing after the JSON value");
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
    if (!scan_text(&s, root) || !scanner_put(&s, "", 1))
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
