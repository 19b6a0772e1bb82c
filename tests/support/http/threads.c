#include "tests/support/http/threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

char *threads_list(pid_t pid)
{
    char path[64], *text = NULL;
    size_t size;
    struct dirent **threads;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    int count = scandir(path, &threads, NULL, alphasort);
    FILE *list = count < 0 ? NULL : open_memstream(&text, &size);
    if (list == NULL)
        return NULL;
    for (int i = 0; i < count; i++) {
        fprintf(list, "%s\n", threads[i]->d_name);
        free(threads[i]);
    }
    free(threads);
    fclose(list);
    return text;
}
