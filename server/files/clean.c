#include "server/files/clean.h"

#include "server/tensors/condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char file_name[] = ".tensord-clean";

/* The list, with a newline in front and a NUL behind. */
static char *read_list(const struct folder *folder)
{
    struct error error;
    size_t size;
    bool is_writable;
    int fd = folder_read(folder, file_name, &size, &is_writable, &error);
    char *list = fd >= 0 ? malloc(size + 2) : NULL;
    if (list && folder_read_at(fd, list + 1, size, 0, &error) != ERROR_NONE) {
        free(list);
        list = NULL;
    }
    if (list) {
        list[0] = '\n';
        list[size + 1] = '\0';
    }
    if (fd >= 0)
        close(fd);
    return list;
}

char *clean_take(struct folder *folder)
{
    struct error error;
    char *list = read_list(folder);
    if (folder_remove(folder, file_name, &error) == ERROR_NONE &&
        folder_sync(folder, &error) == ERROR_NONE)
        return list;
    free(list);
    return NULL;
}

bool clean_strike(char *list, const char *name, const char *etag)
{
    char start[TENSOR_NAME_MAX + 3];
    size_t size = (size_t)snprintf(start, sizeof start, "\n%s ", name);
    char *line = list ? strstr(list, start) : NULL;
    if (!line)
        return false;
    const char *tag = line + size;
    size_t tag_size = strcspn(tag, "\n");
    bool has = strlen(etag) == tag_size && memcmp(tag, etag, tag_size) == 0;
    memset(line, '\n', size + tag_size);
    return has;
}

enum error_code clean_leave(struct folder *folder, const char *list, size_t size,
                            struct error *error)
{
    struct new_file file;
    if (folder_create(folder, &file, file_name, error) != ERROR_NONE)
        return error->code;
    if (new_file_write(&file, list, size, NULL, error) != ERROR_NONE ||
        new_file_sync(&file, error) != ERROR_NONE) {
        folder_discard(folder, &file);
        return error->code;
    }
    enum error_code code = folder_replace(folder, &file, error);
    return code ? code : folder_sync(folder, error);
}
