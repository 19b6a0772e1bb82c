#include "tests/bench/kernels_peer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "the libraries' process: %s\n", what);
    exit(1);
}

static void line_from(struct peers *peers, char *line, int size)
{
    if (!fgets(line, size, peers->from))
        give_up("it ended");
    line[strcspn(line, "\n")] = '\0';
}

void peers_start(struct peers *peers, const char *python)
{
    int to[2], from[2];
    char line[PEERS_MAX * 16];
    *peers = (struct peers){0};
    if (!python)
        return;
    if (pipe(to) != 0 || pipe(from) != 0)
        give_up("no pipe");
    switch (fork()) {
    case -1:
        give_up("no fork");
    case 0:
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[1]);
        close(from[0]);
        execlp(python, python, "tests/bench/kernels_peer.py", (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    peers->to = fdopen(to[1], "w");
    peers->from = fdopen(from[0], "r");
    line_from(peers, line, sizeof line);
    for (char *name = strtok(line, " "); name && peers->count < PEERS_MAX; name = strtok(NULL, " "))
        snprintf(peers->names[peers->count++], sizeof peers->names[0], "%s", name);
}

static void save(const char *folder, const char *name, const void *data, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        give_up("no room for the inputs in /dev/shm");
}

static void forget(const char *folder)
{
    static const char *const names[] = {"table", "values", "indices", "ids"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

void peers_load(struct peers *peers, const struct cell_data *data)
{
    static const char *const kinds[] = {"add",          "scatter_nd",   "gather",
                                        "mean",         "segment_sum",  "unsorted_sum",
                                        "unsorted_max", "unsorted_mean"};
    const struct cell *c = data->cell;
    char folder[] = "/dev/shm/tensord-bench-XXXXXX", line[64];
    if (peers->count == 0)
        return;
    if (!mkdtemp(folder))
        give_up("no folder in /dev/shm");
    save(folder, "table", data->table, data->table_bytes);
    save(folder, "values", data->values, data->values_bytes);
    save(folder, "indices", data->indices, data->index_bytes);
    save(folder, "ids", data->ids, (size_t)c->n * sizeof *data->ids);
    fprintf(peers->to, "load %s %s %s %lld %d %lld %lld %lld %lld %d\n", folder, kinds[c->kind],
            dtype_name(c->dtype), (long long)c->n, data->depth, (long long)c->dims[0],
            (long long)(data->depth > 1 ? c->dims[1] : 1), (long long)c->width,
            (long long)c->segments, c->in_place);
    fflush(peers->to);
    line_from(peers, line, sizeof line);
    forget(folder);
    if (strcmp(line, "loaded") != 0)
        give_up(line);
}

double peers_run(struct peers *peers, int i)
{
    char line[64];
    fprintf(peers->to, "run %s\n", peers->names[i]);
    fflush(peers->to);
    line_from(peers, line, sizeof line);
    return atof(line);
}
