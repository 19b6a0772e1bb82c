#include "server/files/catalog.h"

#include "server/files/reader.h"
#include "server/files/saved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum error_code catalog_name(char *name, const char *file, const char *tensor, bool is_own,
                             struct error *error)
{
    char text[FILE_NAME_MAX + TENSOR_NAME_MAX + 2];
    int stem = (int)(strlen(file) - strlen(FILE_SUFFIX));
    int size = is_own ? snprintf(text, sizeof text, "%.*s", stem, file)
                      : snprintf(text, sizeof text, "%.*s.%s", stem, file, tensor);
    if (size < 0 || (size_t)size >= sizeof text || !tensor_name_is_legal(text, (size_t)size))
        return error_set(
            error, ERROR_INVALID_PARAMETER, NULL,
            "tensor_dir: %.200s: '%.140s' is no tensor's name; that is " TENSOR_NAME_RULE, file,
            text);
    memcpy(name, text, (size_t)size + 1);
    return ERROR_NONE;
}

static struct catalog_item *add(struct catalog *catalog)
{
    if (catalog->count == catalog->room) {
        size_t room = catalog->room ? 2 * catalog->room : 64;
        struct catalog_item *items = realloc(catalog->items, room * sizeof *items);
        if (!items)
            return NULL;
        catalog->items = items;
        catalog->room = room;
    }
    return &catalog->items[catalog->count++];
}

static enum error_code add_all(struct catalog *catalog, const char *file,
                               const struct safetensors_file *found, struct error *error)
{
    for (int i = 0; i < found->count; i++) {
        struct catalog_item *item = add(catalog);
        if (!item)
            return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL,
                             "no memory for the list of tensors");
        *item =
            (struct catalog_item){.bytes = found->entries[i].bytes, .is_own = found->count == 1};
        strcpy(item->file, file);
        if (catalog_name(item->name, file, found->entries[i].name, item->is_own, error) !=
            ERROR_NONE)
            return error->code;
    }
    return ERROR_NONE;
}

static enum error_code read_file(struct catalog *catalog, const struct folder *folder,
                                 const char *file, struct blocks *blocks, struct budget *budget,
                                 struct error *error)
{
    struct reader reader;
    struct saved saved;
    bool is_ours;
    if (strlen(file) > FILE_NAME_MAX)
        return error_set(
            error, ERROR_INVALID_PARAMETER, NULL,
            "tensor_dir: the name of %.200s is too long; a tensor's name is " TENSOR_NAME_RULE,
            file);
    if (reader_open(&reader, folder, file, blocks, budget, error) != ERROR_NONE)
        return error->code;
    enum error_code code = saved_read(&saved, &is_ours, &reader.file, error);
    if (code == ERROR_NONE)
        code = add_all(catalog, file, &reader.file, error);
    else
        code = reader_blame(file, error);
    reader_close(&reader);
    return code;
}

/* A file of the resident's own stands in front of others. */
static int by_name(const void *a, const void *b)
{
    const struct catalog_item *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (int)y->is_own - (int)x->is_own;
}

/* One resident stays of each name. */
static enum error_code settle(struct catalog *catalog, struct error *error)
{
    size_t kept = 0;
    if (catalog->count > 0)
        qsort(catalog->items, catalog->count, sizeof *catalog->items, by_name);
    for (size_t i = 0; i < catalog->count; i++) {
        const struct catalog_item *item = &catalog->items[i];
        const struct catalog_item *last = kept > 0 ? &catalog->items[kept - 1] : NULL;
        bool is_same = last && strcmp(last->name, item->name) == 0;
        if (is_same && !last->is_own)
            return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                             "tensor_dir: %.140s and %.140s both have a tensor '%.128s'",
                             last->file, item->file, item->name);
        if (is_same)
            continue;
        catalog->cost += blocks_cost(item->bytes);
        catalog->items[kept++] = *item;
    }
    catalog->count = kept;
    return ERROR_NONE;
}

enum error_code catalog_read(struct catalog *catalog, const struct folder *folder,
                             struct blocks *blocks, struct budget *budget, struct error *error)
{
    size_t count;
    *catalog = (struct catalog){.items = NULL};
    char *names = folder_list(folder, &count, error), *file = names;
    if (!names)
        return error->code;
    enum error_code code = ERROR_NONE;
    for (size_t i = 0; i < count && code == ERROR_NONE; i++, file += strlen(file) + 1)
        code = read_file(catalog, folder, file, blocks, budget, error);
    free(names);
    if (code == ERROR_NONE)
        code = settle(catalog, error);
    if (code != ERROR_NONE)
        catalog_release(catalog);
    return code;
}

void catalog_release(struct catalog *catalog)
{
    free(catalog->items);
    *catalog = (struct catalog){.items = NULL};
}

const struct catalog_item *catalog_find(const struct catalog *catalog, const char *name)
{
    size_t from = 0, to = catalog->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        int order = strcmp(name, catalog->items[middle].name);
        if (order == 0)
            return &catalog->items[middle];
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}
