#include "server/files/reader.h"

#include "server/base/units.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOME_BYTES = 60 * 1024 };

enum error_code reader_blame(const char *name, struct error *error)
{
    char message[ERROR_MESSAGE_MAX];
    bool is_ours =
        error->code == ERROR_RESOURCE_EXHAUSTED || error->code == ERROR_TENSOR_MEMORY_FULL;
    memcpy(message, error->message, sizeof message);
    return error_set(error, is_ours ? error->code : ERROR_INVALID_PARAMETER, NULL,
                     "tensor_dir: %.200s: %.400s", name, message);
}

static enum error_code read_head(struct reader *reader, size_t size, struct error *error)
{
    char first[SAFETENSORS_LENGTH_BYTES] = {0};
    size_t json_size, start = size < sizeof first ? size : sizeof first;
    if (folder_read_at(reader->fd, first, start, 0, error) != ERROR_NONE ||
        safetensors_file_length(&json_size, first, size, error) != ERROR_NONE)
        return error->code;
    char *json = arena_get(&reader->arena, json_size + 1);
    if (!json)
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                         "there is no memory for its header of %zu bytes", json_size);
    struct work work = {.memory = &reader->arena.memory, .threads = 1};
    reader->data_at = sizeof first + json_size;
    if (folder_read_at(reader->fd, json, json_size, sizeof first, error) != ERROR_NONE)
        return error->code;
    return safetensors_file_read(&reader->file, json, json_size, size - reader->data_at, &work,
                                 error);
}

enum error_code reader_open(struct reader *reader, const struct folder *folder, const char *name,
                            struct blocks *blocks, struct budget *budget, struct error *error)
{
    struct stat found = {0};
    size_t size;
    reader->fd = folder_read(folder, name, &size, &reader->is_writable, error);
    if (reader->fd < 0)
        return error->code;
    fstat(reader->fd, &found);
    reader->stamp =
        (struct file_stamp){found.st_ino, (uint64_t)found.st_size,
                            (uint64_t)found.st_mtim.tv_sec * SEC + (uint64_t)found.st_mtim.tv_nsec};
    reader->home = blocks_get(blocks, HOME_BYTES);
    if (!reader->home) {
        close(reader->fd);
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory to read %.200s", name);
    }
    arena_init(&reader->arena, blocks, budget, reader->home);
    if (read_head(reader, size, error) == ERROR_NONE)
        return ERROR_NONE;
    reader_close(reader);
    return reader_blame(name, error);
}

void reader_close(struct reader *reader)
{
    arena_release(&reader->arena);
    blocks_put(reader->arena.blocks, reader->home);
    close(reader->fd);
}

enum error_code reader_read(const struct reader *reader, const struct safetensors_entry *entry,
                            void *bytes, size_t size, size_t from, struct error *error)
{
    return folder_read_at(reader->fd, bytes, size, reader->data_at + entry->begin + from, error);
}
