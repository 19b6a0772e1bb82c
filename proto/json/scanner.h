/* json_scanner: a pass of json_scan over a text, and the envelope that it writes. Private to
 * scan.c, which walks arrays and objects, and scanner.c, which takes the values inside them.
 *
 * A function that returns a place in the text returns where it stopped, or NULL when it has said
 * the error. */
#ifndef PROTO_JSON_SCANNER_H
#define PROTO_JSON_SCANNER_H

#include "proto/json/keys.h"
#include "proto/json/scan.h"
#include "proto/json/string.h"

#include <stdbool.h>
#include <string.h>

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

/* INVALID_JSON: at `at` the text does not have what is expected there. */
const char *scanner_expected(struct scanner *s, const char *at, const char *what);

/* RESOURCE_EXHAUSTED. */
const char *scanner_no_memory(struct scanner *s, size_t bytes);

/* Gives the envelope room for `size` bytes more; false: there is no memory, which is said. */
bool scanner_grow(struct scanner *s, size_t size);

/* Appends to the envelope. */
static inline bool scanner_put(struct scanner *s, const char *bytes, size_t size)
{
    if (size > s->envelope_room - s->scan->envelope_size && !scanner_grow(s, size))
        return false;
    memcpy(s->scan->envelope + s->scan->envelope_size, bytes, size);
    s->scan->envelope_size += size;
    return true;
}

/* Counts bytes of the text at `at` that stay in the envelope; false: they are too many, which is
 * said. */
bool scanner_count(struct scanner *s, const char *at, size_t size);

/* Appends bytes of the text as they are. */
static inline const char *scanner_keep(struct scanner *s, const char *at, size_t size)
{
    return scanner_count(s, at, size) && scanner_put(s, at, size) ? at + size : NULL;
}

/* `true`, `false` or `null`. */
const char *scan_literal(struct scanner *s, const char *at, const char *literal);

const char *scan_number(struct scanner *s, const char *at);

/* A key, or a value that is a string. */
const char *scan_string(struct scanner *s, const char *at, struct json_string *string);

/* Cuts the value at `at` out of the text, whatever it is. */
const char *scan_cut(struct scanner *s, const char *at);

#endif
