#include "server/files/clean.h"

#include "server/files/text_file.h"
#include "server/tensors/condition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char file_name[] = ".tensord-clean";

char *clean_take(struct folder *folder)
{
    struct error error;
    char *list = text_file_read(folder, file_name);
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
    return text_file_write(folder, file_name, list, size, error);
}
