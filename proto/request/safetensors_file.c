#include "proto/request/safetensors_file.h"

#include "proto/request/safetensors_parts.h"
#include "proto/request/safetensors_read.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum error_code safetensors_file_length(size_t *json_size, const char *first, size_t size,
                                        struct error *error)
{
    uint64_t length = 0;
    if (size < SAFETENSORS_LENGTH_BYTES)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "it has %zu bytes; a safetensors file has at least 8", size);
    memcpy(&length, first, SAFETENSORS_LENGTH_BYTES);
    if (length > SAFETENSORS_HEADER_MAX)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "it is no safetensors file: its first 8 bytes would be a header of %llu "
                         "bytes, allowed are %d",
                         (unsigned long long)length, SAFETENSORS_HEADER_MAX);
    if (length > size - SAFETENSORS_LENGTH_BYTES)
        return error_set(error, ERROR_INVALID_HEADER, NULL,
                         "it is cut short: its header has %llu bytes, of which %zu are there",
                         (unsigned long long)length, size - SAFETENSORS_LENGTH_BYTES);
    *json_size = (size_t)length;
    return ERROR_NONE;
}

static enum error_code no_memory(struct error *error)
{
    return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "there is no memory for its header");
}

static enum error_code read_words(struct safetensors_file *file, const cJSON *metadata,
                                  const struct work *work, struct error *error)
{
    const cJSON *item;
    if (!cJSON_IsObject(metadata))
        return envelope_wrong(NULL, safetensors_metadata, metadata, "an object of strings", error);
    size_t count = (size_t)cJSON_GetArraySize(metadata);
    file->words = work->memory->get(work->memory, (count + 1) * sizeof *file->words);
    if (!file->words)
        return no_memory(error);
    cJSON_ArrayForEach(item, metadata)
    {
        struct safetensors_word *word = &file->words[file->word_count++];
        *word = (struct safetensors_word){item->string, envelope_string(item)};
        if (!word->value)
            return envelope_wrong(NULL, "a member of __metadata__", item, "a string", error);
    }
    return ERROR_NONE;
}

/* Puts the tensor's name in front of the error's sentence. */
static enum error_code blame(const char *tensor, struct error *error)
{
    char message[ERROR_MESSAGE_MAX];
    memcpy(message, error->message, sizeof message);
    return error_set(error, error->code, NULL, "tensor \"%.140s\": %.480s", tensor, message);
}

/* To the reader of requests each tensor is a request with one input. */
static enum error_code read_entry(struct safetensors_entry *entry, const cJSON *item,
                                  const struct work *work, struct error *error)
{
    struct request request = {.op = {"a kept tensor", &request_keeping, 1}};
    struct head head = {.body = ENCODING_SAFETENSORS, .header_length = -1};
    struct decode d = {.request = &request, .head = &head, .work = work, .any_name = true};
    if (safetensors_tensor(&d, item, error) != ERROR_NONE)
        return blame(item->string, error);
    const struct announced *a = &d.inputs[0];
    *entry = (struct safetensors_entry){item->string, a->tensor, a->begin, a->bytes};
    return request_check_kept(&d, &entry->tensor, a->bytes, error) == ERROR_NONE
               ? ERROR_NONE
               : blame(item->string, error);
}

static enum error_code read_entries(struct safetensors_file *file, const cJSON *header,
                                    const struct work *work, struct error *error)
{
    const cJSON *item;
    size_t count = (size_t)cJSON_GetArraySize(header);
    file->entries = work->memory->get(work->memory, (count + 1) * sizeof *file->entries);
    if (!file->entries)
        return no_memory(error);
    cJSON_ArrayForEach(item, header)
    {
        enum error_code code = strcmp(item->string, safetensors_metadata) == 0
                                   ? read_words(file, item, work, error)
                                   : read_entry(&file->entries[file->count++], item, work, error);
        if (code)
            return code;
    }
    if (file->count > 0)
        return ERROR_NONE;
    return error_set(error, ERROR_INVALID_FIELD, NULL, "it has no tensor");
}

static int by_place(const void *a, const void *b)
{
    const struct safetensors_entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static enum error_code check_places(const struct safetensors_file *file, size_t data_size,
                                    struct error *error)
{
    size_t end = 0;
    for (int i = 0; i < file->count; i++) {
        const struct safetensors_entry *e = &file->entries[i];
        if (e->begin != end)
            return error_set(error, ERROR_SIZE_MISMATCH, NULL,
                             "tensor \"%.140s\" begins at byte %zu of the data; expected is %zu, "
                             "where the tensor before it ends",
                             e->name, e->begin, end);
        end += e->bytes;
    }
    if (end == data_size)
        return ERROR_NONE;
    return error_set(error, ERROR_SIZE_MISMATCH, NULL,
                     "it has %zu bytes of data, but its tensors need %zu%s", data_size, end,
                     data_size < end ? ": it is cut short" : "");
}

enum error_code safetensors_file_read(struct safetensors_file *file, const char *json,
                                      size_t json_size, size_t data_size, const struct work *work,
                                      struct error *error)
{
    struct json_scan scan;
    const cJSON *header;
    *file = (struct safetensors_file){.count = 0};
    enum error_code code = safetensors_json(&header, &scan, json, json_size, work, error);
    if (!code)
        code = read_entries(file, header, work, error);
    if (code)
        return code;
    qsort(file->entries, (size_t)file->count, sizeof *file->entries, by_place);
    return check_places(file, data_size, error);
}

const char *safetensors_file_word(const struct safetensors_file *file, const char *name)
{
    for (int i = 0; i < file->word_count; i++)
        if (strcmp(file->words[i].name, name) == 0)
            return file->words[i].value;
    return NULL;
}
