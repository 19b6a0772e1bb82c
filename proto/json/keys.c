#include "proto/json/keys.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROOM_AT_FIRST = 32,
    FEW = 16 /* up to here every pair is compared; a client may send 40,000 */
};

bool json_keys_push(struct json_keys *k, struct json_key key, struct memory *memory)
{
    if (k->count == k->room) {
        size_t room = k->room > 0 ? 2 * k->room : ROOM_AT_FIRST;
        struct json_key *keys = memory->get(memory, room * sizeof(*keys));
        if (!keys)
            return false;
        if (k->count > 0)
            memcpy(keys, k->keys, k->count * sizeof(*keys));
        k->keys = keys;
        k->room = room;
    }
    k->keys[k->count++] = key;
    return true;
}

static bool same(const struct json_key *a, const struct json_key *b)
{
    return a->value.size == b->value.size &&
           memcmp(a->value.data, b->value.data, a->value.size) == 0;
}

static const struct json_key *repeated_of_few(const struct json_key *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (same(&keys[i], &keys[j]))
                return &keys[i];
    return NULL;
}

/* By size, bytes, and place in the text. */
static int compare(const void *left, const void *right)
{
    const struct json_key *a = left, *b = right;
    int order = (a->value.size > b->value.size) - (a->value.size < b->value.size);

    if (order == 0)
        order = memcmp(a->value.data, b->value.data, a->value.size);
    return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

static const struct json_key *repeated_of_many(struct json_key *keys, size_t count)
{
    const struct json_key *first = NULL;

    qsort(keys, count, sizeof(*keys), compare);
    for (size_t i = 1; i < count; i++)
        if (same(&keys[i], &keys[i - 1]) && (!first || keys[i].at < first->at))
            first = &keys[i];
    return first;
}

const struct json_key *json_keys_pop(struct json_keys *k, size_t first)
{
    size_t count = k->count - first;
    if (count == 0)
        return NULL;
    struct json_key *keys = k->keys + first;
    k->count = first;
    return count <= FEW ? repeated_of_few(keys, count) : repeated_of_many(keys, count);
}
