/* What JSON costs: a request with 1,000,000 FP32 is scanned and read, and the same values are
 * printed, on one thread and on two; against bare loops of std::from_chars and std::to_chars over
 * the same values, and against cJSON. Rows: random values of several kinds. Times are the best of
 * runs that take turns, as others may use the machine; ratios are what counts. */
#include "proto/json/scan.h"
#include "proto/json/tensor.h"
#include "tests/bench/json_bare.h"

#include <cjson/cJSON.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 1000000, RUNS = 20, CJSON_RUNS = 3, TEXT_MAX_BYTES = COUNT * 16 + 256 };

enum contender { BARE, OURS_1, OURS_2, CJSON, CONTENDERS };

struct times {
    double read[CONTENDERS][RUNS], print[CONTENDERS][RUNS]; /* ms */
    int runs[CONTENDERS];
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ------------------------------------------------------------------------------------ the arena */

/* One block that every run uses again, as the server does. */
struct arena {
    struct memory memory;
    char *block;
    size_t used, size;
};

static void *arena_get(struct memory *memory, size_t bytes)
{
    struct arena *a = (struct arena *)memory;
    char *piece = a->block + a->used;

    bytes = (bytes + 63) / 64 * 64;
    if (bytes > a->size - a->used)
        return NULL;
    a->used += bytes;
    return piece;
}

/* ----------------------------------------------------------------------------------- contenders */

static void run_bare(const float *values, float *back, char *text, double *read, double *print)
{
    double start = now_ms();
    size_t size = json_bare_print(values, COUNT, text);
    double middle = now_ms();
    json_bare_read(text, size, back, COUNT);
    *print = middle - start;
    *read = now_ms() - middle;
}

static void check(enum error_code code, const struct error *error)
{
    if (code) {
        fprintf(stderr, "%s: %s\n", error_name(code), error->message);
        exit(1);
    }
}

static void run_ours(const char *request, size_t size, struct arena *arena, int threads, char *text,
                     double *read, double *print)
{
    struct work work = {.memory = &arena->memory, .threads = threads};
    struct tensor t = {.dtype = DTYPE_FP32, .rank = 1, .shape = {COUNT}};
    struct json_scan scan;
    struct error error;
    bool bare = false;

    arena->used = 0;
    double start = now_ms();
    check(json_scan(&scan, request, size, size, &work, &error), &error);
    check(json_tensor_read(&t, "tensor", &(struct json_value){.scan = &scan}, &work, &bare, &error),
          &error);
    double middle = now_ms();
    check(json_tensor_print(&t, NONFINITE_ERROR, text, &size, &work, &error), &error);
    *read = middle - start;
    *print = now_ms() - middle;
}

static void run_cjson(const char *request, size_t size, double *read, double *print)
{
    double start = now_ms();
    cJSON *tree = cJSON_ParseWithLength(request, size);
    double middle = now_ms();
    char *text = cJSON_PrintUnformatted(tree);
    assert(tree && text);
    *read = middle - start;
    *print = now_ms() - middle;
    free(text);
    cJSON_Delete(tree);
}

/* ----------------------------------------------------------------------------------------- rows */

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static float uniform(uint64_t *random)
{
    return (float)(draw(random) >> 40) / 16777216;
}

static float normal(uint64_t *random)
{
    float sum = 0;
    for (int i = 0; i < 12; i++)
        sum += uniform(random);
    return sum - 6;
}

static float any_bits(uint64_t *random)
{
    uint32_t bits = (uint32_t)draw(random);
    float value;
    if ((bits & 0x7f800000) == 0x7f800000)
        bits ^= 0x40000000;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float small_integer(uint64_t *random)
{
    return (float)(draw(random) % 1000);
}

static const struct row {
    const char *name;
    float (*draw)(uint64_t *random);
} rows[] = {{"uniform in [0, 1)", uniform},
            {"about normal", normal},
            {"integers below 1000", small_integer},
            {"any finite bits", any_bits}};

static double best(const double *times, int runs)
{
    double least = times[0];
    for (int i = 1; i < runs; i++)
        if (times[i] < least)
            least = times[i];
    return least;
}

static void report(const struct row *row, size_t text, struct times *t)
{
    static const char *const names[] = {"bare from_chars, to_chars", "ours, 1 thread",
                                        "ours, 2 threads", "cJSON"};
    double bare = 0;

    printf("%s (%.1f MB of text)\n", row->name, (double)text / 1e6);
    for (int c = 0; c < CONTENDERS; c++) {
        double read = best(t->read[c], t->runs[c]), print = best(t->print[c], t->runs[c]);
        if (c == BARE)
            bare = read + print;
        printf("  %-28s read %7.1f ms  print %7.1f ms  both / bare %6.2f\n", names[c], read, print,
               (read + print) / bare);
    }
}

static void run_row(const struct row *row, struct arena *arena, float *values, float *back,
                    char *request, char *text)
{
    static const char head[] = "{\"inputs\":[{\"name\":\"tensor\",\"data\":[";
    struct times t = {0};
    uint64_t random = 20261130;

    for (int i = 0; i < COUNT; i++)
        values[i] = row->draw(&random);
    memcpy(request, head, sizeof(head));
    size_t size = sizeof(head) - 1;
    size += json_bare_print(values, COUNT, request + size) - 1;
    memcpy(request + size, "]}]}", 4);
    size += 4;
    for (int i = 0; i < RUNS; i++) {
        run_bare(values, back, text, &t.read[BARE][i], &t.print[BARE][i]);
        run_ours(request, size, arena, 1, text, &t.read[OURS_1][i], &t.print[OURS_1][i]);
        run_ours(request, size, arena, 2, text, &t.read[OURS_2][i], &t.print[OURS_2][i]);
        if (i < CJSON_RUNS)
            run_cjson(request, size, &t.read[CJSON][i], &t.print[CJSON][i]);
    }
    t.runs[BARE] = t.runs[OURS_1] = t.runs[OURS_2] = RUNS;
    t.runs[CJSON] = CJSON_RUNS;
    report(row, size, &t);
}

int main(void)
{
    struct arena arena = {.memory.get = arena_get, .size = TEXT_MAX_BYTES};
    float *values = malloc(COUNT * sizeof(*values)), *back = malloc(COUNT * sizeof(*back));
    char *request = malloc(TEXT_MAX_BYTES), *text = malloc(TEXT_MAX_BYTES);

    arena.block = aligned_alloc(64, arena.size / 64 * 64);
    assert(values && back && request && text && arena.block);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        run_row(&rows[i], &arena, values, back, request, text);
    free(values);
    free(back);
    free(request);
    free(text);
    free(arena.block);
    return 0;
}
