/* json_keys: the keys of the objects that a scan is inside of, to find one that comes twice. A
 * stack: the keys of an inner object lie above those of the outer one. Private to scan.c. */
#ifndef PROTO_JSON_KEYS_H
#define PROTO_JSON_KEYS_H

#include "kernels/dtype.h"
#include "proto/work.h"

#include <stdbool.h>
#include <stddef.h>

struct json_key {
    struct span value; /* without escapes */
    const char *at;    /* in the text */
};

struct json_keys {
    struct json_key *keys; /* from memory */
    size_t count, room;
};

/* false when there is no memory. */
bool json_keys_push(struct json_keys *k, struct json_key key, struct memory *memory);

/* Takes the keys from number `first` on off the stack. Returns the first in the text that repeats
 * one before it, or NULL. */
const struct json_key *json_keys_pop(struct json_keys *k, size_t first);

#endif
