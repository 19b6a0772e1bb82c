#include "tests/support/http/scratch.h"

#include "tests/support/http/fixture.h"

#include <dirent.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void scratch_make(struct scratch *s)
{
    *s = (struct scratch){.path = "/tmp/tensord-files.XXXXXX"};
    assert_non_null(mkdtemp(s->path));
    snprintf(s->setting, sizeof s->setting, "--tensor_dir=%s", s->path);
}

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *where)
{
    (void)found;
    (void)kind;
    (void)where;
    return remove(path);
}

void scratch_remove(struct scratch *s)
{
    chmod(s->path, 0700);
    nftw(s->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_path(const struct scratch *s, const char *name)
{
    static char paths[4][512];
    static int last;
    char *path = paths[last++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", s->path, name);
    return path;
}

bool scratch_has(const struct scratch *s, const char *name)
{
    return access(scratch_path(s, name), F_OK) == 0;
}

int scratch_count(const struct scratch *s)
{
    int count = 0;
    DIR *list = opendir(s->path);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(list);
    return count;
}

void scratch_write(const struct scratch *s, const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(scratch_path(s, name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

char *scratch_read(const struct scratch *s, const char *name, size_t *size)
{
    struct stat found;
    FILE *file = fopen(scratch_path(s, name), "r");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &found), 0);
    *size = (size_t)found.st_size;
    char *bytes = malloc(*size + 1);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

void scratch_tensors(const struct scratch *s, const char *name, const char *header,
                     const void *data, size_t size)
{
    uint64_t length = strlen(header);
    char *bytes = malloc(8 + length + size);
    assert_non_null(bytes);
    memcpy(bytes, &length, 8);
    for (size_t i = 0; i < length; i++)
        bytes[8 + i] = header[i] == '\'' ? '"' : header[i];
    memcpy(bytes + 8 + length, data, size);
    scratch_write(s, name, bytes, 8 + length + size);
    free(bytes);
}
