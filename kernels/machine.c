#include "kernels/machine.h"
#include "kernels/team.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_BYTES = 64,
    AHEAD = 32,
    LINES_READ = 20000,
    ROUNDS = 5,
    TABLE_MOST_BYTES = 64 << 20 /* whatever a system tells of its caches */
};

const struct machine machine_typical = {
    .second_level_bytes = 1 << 20,
    .third_level_bytes = 32 << 20,
    .line_ns = 5,
    .team_ns = 20e3,
};

static void read_cache(int name, size_t *bytes)
{
    long told = sysconf(name);
    if (told > 0)
        *bytes = (size_t)told;
}

void machine_read(struct machine *machine)
{
    *machine = machine_typical;
#ifdef _SC_LEVEL2_CACHE_SIZE
    read_cache(_SC_LEVEL2_CACHE_SIZE, &machine->second_level_bytes);
    read_cache(_SC_LEVEL3_CACHE_SIZE, &machine->third_level_bytes);
#endif
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Line k of a walk that no prefetcher of the processor follows. */
static size_t line_at(size_t k, size_t lines)
{
    return (size_t)(k * UINT64_C(0x9E3779B97F4A7C15) >> 32) % lines * LINE_BYTES;
}

static void read_lines(const unsigned char *table, size_t lines, size_t from)
{
    unsigned sum = 0;
    for (size_t k = from; k < from + LINES_READ; k++) {
        __builtin_prefetch(table + line_at(k + AHEAD, lines));
        sum += table[line_at(k, lines)];
    }
    __asm__ volatile("" : : "r"(sum));
}

/* Other programs make rounds longer, never shorter: the least is the machine's. */
static void measure_line(struct machine *machine)
{
    size_t cache = machine->second_level_bytes;
    size_t bytes = cache < TABLE_MOST_BYTES / 4 ? 4 * cache : TABLE_MOST_BYTES;
    size_t lines = bytes / LINE_BYTES;
    unsigned char *table = malloc(bytes);
    double least = 0;
    if (!table || lines == 0) {
        free(table);
        return;
    }
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        table[i] = 1;
    for (int i = 0; i < ROUNDS; i++) {
        double start = now_ns();
        read_lines(table, lines, (size_t)i * LINES_READ);
        double ns = (now_ns() - start) / LINES_READ;
        least = i == 0 || ns < least ? ns : least;
    }
    machine->line_ns = least;
    free(table);
}

static void do_nothing(void *work, int part)
{
    (void)work;
    (void)part;
}

/* A team that has just worked is still awake for a moment, so it sleeps before each round. */
static void measure_team(struct machine *machine, int threads)
{
    double least = 0;
    for (int i = 0; i < ROUNDS; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
        double start = now_ns();
        team_run(threads, do_nothing, NULL);
        double ns = now_ns() - start;
        least = i == 0 || ns < least ? ns : least;
    }
    machine->team_ns = least;
}

void machine_measure(struct machine *machine, int threads)
{
    measure_line(machine);
    if (threads > 1)
        measure_team(machine, threads);
}
