/* replay: gives files to a fuzzer's function, without libFuzzer and with any compiler. What once
 * crashed must not crash again.
 *
 *   TARGET [FILE_OR_FOLDER...]     those of tests/fuzz/regression/TARGET unless said */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *data = NULL;
    size_t capacity = 0, size = 0;

    if (file == NULL) {
        perror(path);
        return -1;
    }
    /* Printed first, so that a crash has a name. */
    printf("%s\n", path);
    fflush(stdout);
    for (int c; (c = getc(file)) != EOF;) {
        if (size == capacity) {
            capacity = capacity ? 2 * capacity : 4096;
            data = realloc(data, capacity);
            if (data == NULL)
                abort();
        }
        data[size++] = (char)c;
    }
    fclose(file);
    LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    free(data);
    return 1;
}

/* How many files it replayed; -1 when one cannot be read. */
static int replay(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int count = 0;

    if (folder == NULL)
        return replay_file(path);
    while (count >= 0 && (entry = readdir(folder)) != NULL) {
        char name[PATH_BYTES];
        int more;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        more = replay(name);
        count = more < 0 ? -1 : count + more;
    }
    closedir(folder);
    return count;
}

/* A target that never crashed has no folder. */
static int replay_known(const char *program)
{
    const char *slash = strrchr(program, '/');
    char path[PATH_BYTES];

    snprintf(path, sizeof(path), "tests/fuzz/regression/%s", slash ? slash + 1 : program);
    return access(path, F_OK) == 0 ? replay(path) : 0;
}

int main(int argc, char **argv)
{
    int count = argc == 1 ? replay_known(argv[0]) : 0;

    for (int i = 1; i < argc && count >= 0; i++) {
        int more = replay(argv[i]);

        count = more < 0 ? -1 : count + more;
    }
    printf("%d files replayed\n", count);
    return count < 0;
}
