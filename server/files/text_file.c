#include "server/files/text_file.h"

#include <stdlib.h>
#include <unistd.h>

char *text_file_read(const struct folder *folder, const char *name)
{
    struct error error;
    size_t size;
    bool is_writable;
    int fd = folder_read(folder, name, &size, &is_writable, &error);
    char *text = fd >= 0 ? malloc(size + 2) : NULL;
    if (text && folder_read_at(fd, text + 1, size, 0, &error) != ERROR_NONE) {
        free(text);
        text = NULL;
    }
    if (text) {
        text[0] = '\n';
        text[size + 1] = '\0';
    }
    if (fd >= 0)
        close(fd);
    return text;
}

enum error_code text_file_write(struct folder *folder, const char *name, const char *text,
                                size_t size, struct error *error)
{
    struct new_file file;
    if (folder_create(folder, &file, name, error) != ERROR_NONE)
        return error->code;
    if (new_file_write(&file, text, size, NULL, error) != ERROR_NONE ||
        new_file_sync(&file, error) != ERROR_NONE) {
        folder_discard(folder, &file);
        return error->code;
    }
    enum error_code code = folder_replace(folder, &file, error);
    return code ? code : folder_sync(folder, error);
}
