/* replay: gives files to a fuzzer's function, without libFuzzer and with any compiler.
 *
 *   TARGET [FILE_OR_FOLDER...]
 *
 * Without arguments the seeds are replayed and the inputs that once crashed: ../../seeds/TARGET
 * beside the program, and tests/fuzz/regression/TARGET. No seeds is a failure: a replay of nothing
 * would always pass. */
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

/* The seeds of a target and what once crashed it, if anything did; -1 when there are no seeds. */
static int replay_known(const char *program)
{
    const char *slash = strrchr(program, '/');
    int folder = slash ? (int)(slash + 1 - program) : 0;
    const char *target = program + folder;
    char path[PATH_BYTES];

    snprintf(path, sizeof(path), "%.*s../../seeds/%s", folder, program, target);
    int seeds = replay(path);
    if (seeds <= 0) {
        fprintf(stderr, "no seeds in %s\n", path);
        return -1;
    }
    snprintf(path, sizeof(path), "tests/fuzz/regression/%s", target);
    int crashed = access(path, F_OK) == 0 ? replay(path) : 0;
    return crashed < 0 ? -1 : seeds + crashed;
}

int main(int argc, char **argv)
{
    int count = argc == 1 ? replay_known(argv[0]) : 0;

    for (int i = 1; i < argc && count >= 0; i++) {
        int more = replay(argv[i]);

        count = more < 0 ? -1 : count + more;
    }
    if (count > 0)
        printf("%d files replayed\n", count);
    return count <= 0;
}
