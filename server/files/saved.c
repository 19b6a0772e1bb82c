#include "server/files/saved.h"

#include "proto/number/digits.h"
#include "server/base/clock.h"
#include "server/tensors/store_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of a file: versions are counted on from it, and milliseconds become
 * nanoseconds. */
#define NUMBER_MOST (UINT64_MAX / MSEC / 2)

static const char from_prefix[] = "tensord.from.", key_prefix[] = "tensord.key.";

static enum error_code wrong(const char *name, const char *value, struct error *error)
{
    return error_set(error, ERROR_INVALID_FIELD, NULL, "%.100s of __metadata__ is \"%.100s\"", name,
                     value ? value : "missing");
}

/* Each of these two takes all of the text; false: it is no such number. */
static bool read_hex(const char *text, uint64_t *number)
{
    size_t size = strlen(text);
    if (size == 0 || size > 16 || strspn(text, "0123456789abcdef") != size)
        return false;
    *number = strtoull(text, NULL, 16);
    return true;
}

static bool read_number(const char *text, uint64_t *number)
{
    const char *end = digits_read(text, NUMBER_MOST, number);
    return end && *end == '\0';
}

enum error_code saved_read(struct saved *saved, bool *is_ours, const struct safetensors_file *file,
                           struct error *error)
{
    struct {
        const char *name;
        bool (*read)(const char *text, uint64_t *number);
        uint64_t *number;
    } members[] = {
        {"tensord.generation", read_hex, &saved->generation},
        {"tensord.epoch", read_hex, &saved->epoch},
        {"tensord.version", read_number, &saved->version},
        {"tensord.created", read_number, &saved->created_ms},
        {"tensord.ttl", read_number, &saved->ttl_ns},
    };
    *is_ours = file->count == 1 && safetensors_file_word(file, members[0].name);
    for (size_t i = 0; i < sizeof members / sizeof *members && *is_ours; i++) {
        const char *value = safetensors_file_word(file, members[i].name);
        if (!value || !members[i].read(value, members[i].number))
            return wrong(members[i].name, value, error);
    }
    if (*is_ours)
        saved->ttl_ns *= MSEC;
    return ERROR_NONE;
}

enum error_code saved_positions(struct positions *positions, const struct safetensors_file *file,
                                struct error *error)
{
    for (int i = 0; i < file->word_count; i++) {
        const struct safetensors_word *word = &file->words[i];
        struct position position;
        if (strncmp(word->name, from_prefix, sizeof from_prefix - 1) != 0)
            continue;
        if (position_parse(&position, word->name + sizeof from_prefix - 1, word->value, error) !=
            ERROR_NONE)
            return wrong(word->name, word->value, error);
        if (!positions_reserve(positions, &position))
            return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for its positions");
        positions_set(positions, &position);
    }
    return ERROR_NONE;
}

/* ----------------------------------------------------------------------------------------- keys */

static bool read_bytes(uint8_t *bytes, size_t count, const char *hex)
{
    for (size_t i = 0; i < count; i++) {
        char two[3] = {hex[2 * i], hex[2 * i] ? hex[2 * i + 1] : '\0', '\0'};
        uint64_t byte;
        if (strlen(two) != 2 || !read_hex(two, &byte))
            return false;
        bytes[i] = (uint8_t)byte;
    }
    return true;
}

/* Cuts the next word off; NULL when there is none with a blank behind it. */
static const char *cut(char *word, size_t room, const char *at)
{
    size_t size = strcspn(at, " ");
    if (at[size] != ' ' || size >= room)
        return NULL;
    memcpy(word, at, size);
    word[size] = '\0';
    return at + size + 1;
}

static bool read_key(struct kept_key *key, const struct safetensors_word *word)
{
    char fingerprint[2 * DIGEST_BYTES + 1], kept[24], status[8];
    uint64_t number;
    const char *id = word->name + sizeof key_prefix - 1;
    const char *at = cut(fingerprint, sizeof fingerprint, word->value);
    at = at ? cut(kept, sizeof kept, at) : NULL;
    at = at ? cut(status, sizeof status, at) : NULL;
    at = at ? cut(key->etag, sizeof key->etag, at) : NULL;
    if (!at || strlen(id) != 2 * sizeof key->id || !read_bytes(key->id, sizeof key->id, id) ||
        strlen(fingerprint) != 2 * sizeof key->fingerprint ||
        !read_bytes(key->fingerprint, sizeof key->fingerprint, fingerprint) ||
        !read_number(kept, &key->kept_ms) || !read_number(status, &number) || number < 200 ||
        number > 299)
        return false;
    key->status = (int)number;
    key->answer = at;
    return strlen(at) + strlen(key->etag) + 1 <= KEY_ANSWER_MAX;
}

enum error_code saved_keys(struct store *store, struct turn *turn, int place,
                           const struct safetensors_file *file, struct error *error)
{
    uint64_t now_ns = clock_ns(), now_ms = clock_wall_ms();
    for (int i = 0; i < file->word_count; i++) {
        struct kept_key key;
        if (strncmp(file->words[i].name, key_prefix, sizeof key_prefix - 1) != 0)
            continue;
        if (!read_key(&key, &file->words[i]))
            return wrong(file->words[i].name, file->words[i].value, error);
        uint64_t age_ms = now_ms > key.kept_ms ? now_ms - key.kept_ms : 0;
        if (age_ms >= KEY_LIFE_NS / MSEC)
            continue;
        if (!store_adopt_key(store, turn, place, &key,
                             now_ns > age_ms * MSEC ? now_ns - age_ms * MSEC : 0))
            return error_set(error, ERROR_TENSOR_MEMORY_FULL, NULL,
                             "there is no room for its keys (settings tensor_memory, tensor_keys)");
    }
    return ERROR_NONE;
}

/* ------------------------------------------------------------------------------------- printing */

static void print_bytes(struct text *text, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_printf(text, "%02x", bytes[i]);
}

/* A tag has quotes, an answer is JSON: as one string both are escaped. */
static void print_key(struct text *text, const struct key *key, uint64_t kept_ms)
{
    char value[2 * DIGEST_BYTES + 64 + ETAG_MAX + KEY_ANSWER_MAX];
    struct text inner;
    text_init(&inner, value, sizeof value);
    print_bytes(&inner, key->fingerprint, sizeof key->fingerprint);
    text_printf(&inner, " %" PRIu64 " %d %s ", kept_ms, key->status, key->etag);
    text_put(&inner, key->answer, key->answer_size);
    text_printf(text, ",\"%s", key_prefix);
    print_bytes(text, key->id, sizeof key->id);
    text_puts(text, "\":");
    text_json(text, inner.data, inner.size);
}

void saved_print(struct text *text, struct store *store, struct turn *turn, int resident, int keys)
{
    const struct resident *r = turn_resident(turn, resident);
    uint64_t now_ns = clock_ns(), now_ms = clock_wall_ms();
    text_printf(text,
                "\"tensord.generation\":\"%016" PRIx64 "\",\"tensord.epoch\":\"%" PRIx64
                "\",\"tensord.version\":\"%" PRIu64 "\",\"tensord.created\":\"%" PRIu64
                "\",\"tensord.ttl\":\"%" PRIu64 "\"",
                r->generation, r->epoch, r->version, r->created_ms, r->ttl_ns / MSEC);
    for (int i = 0; i < r->positions.count; i++) {
        const struct position *p = &r->positions.list[i];
        text_printf(text, ",\"%s%s\":\"%" PRIu64 "-%" PRIu64 "\"", from_prefix, p->source, p->high,
                    p->low);
    }
    for (const struct key *key = store_pin_keys(store, turn, keys); key; key = key->next) {
        uint64_t age_ms = now_ns > key->kept_ns ? (now_ns - key->kept_ns) / MSEC : 0;
        print_key(text, key, now_ms > age_ms ? now_ms - age_ms : 0);
    }
    store_unpin_keys(store, turn, keys);
}
