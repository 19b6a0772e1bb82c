/* A kept tensor of 1 GiB and its file: how fast a snapshot and a load are beside cp of the same
 * file, how long a writer and a reader wait while it is written, and how long a start takes.
 *
 *   files [MIB]
 *
 * Files lie in /tmp. Each figure is the best of ROUNDS, the longest waits are the worst. */
#include "tests/support/http/kept.h"
#include "tests/support/http/scratch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 3 };

static struct scratch scratch;
static char memory[48];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* From the fork to the first answer that says ready. */
static struct fixture *start(double *seconds)
{
    const char *const settings[] = {scratch.setting,         memory,
                                    "--snapshot_interval=0", "--request_timeout=1h",
                                    "--log_requests=false",  NULL};
    double begin = now();
    void *f;
    int status = 0;
    assert_int_equal(fixture_start_with(&f, settings), 0);
    while (status != 200) {
        struct answer a = kept_call(f, "GET", "/v2/health/ready", NULL, NULL);
        status = a.status;
        answer_release(&a);
    }
    *seconds = now() - begin;
    return f;
}

/* A client that asks again and again, and the longest of its waits. */
struct asker {
    pthread_t thread;
    struct fixture *fixture;
    const char *method, *path, *body;
    atomic_bool stop;
    double longest;
};

static void *ask(void *context)
{
    struct asker *asker = context;
    struct fixture f = {.server = asker->fixture->server};
    assert_true(client_init(&f.client, f.server.port));
    while (!atomic_load(&asker->stop)) {
        double begin = now();
        kept_expect(&f, 200, asker->method, asker->path, NULL, asker->body);
        double took = now() - begin;
        asker->longest = took > asker->longest ? took : asker->longest;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    client_release(&f.client);
    return NULL;
}

static double snapshot(struct fixture *f)
{
    double begin = now();
    kept_expect(f, 200, "POST", "/v2/tensors/t/snapshot", NULL, NULL);
    return now() - begin;
}

static double copy(void)
{
    char command[512];
    snprintf(command, sizeof command, "cd %s && cp t.safetensors copy && sync copy", scratch.path);
    double begin = now();
    assert_int_equal(system(command), 0);
    double took = now() - begin;
    unlink(scratch_path(&scratch, "copy"));
    return took;
}

/* The longest wait while snapshots are written. Reader and writer are measured apart, as a reader
 * waits behind a writer. */
static double longest_wait(struct fixture *f, struct asker asker)
{
    asker.fixture = f;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_store(&asker.stop, false);
        pthread_create(&asker.thread, NULL, ask, &asker);
        (void)snapshot(f);
        atomic_store(&asker.stop, true);
        pthread_join(asker.thread, NULL);
    }
    return asker.longest;
}

static void measure_waits(struct fixture *f, const char *what)
{
    double writer =
        longest_wait(f, (struct asker){.method = "PUT",
                                       .path = "/v2/tensors/t/data?rows=0:1",
                                       .body = "{'datatype':'INT8','shape':[1],'data':[1]}"});
    double reader =
        longest_wait(f, (struct asker){.method = "GET", .path = "/v2/tensors/t/data?rows=5:6"});
    printf("%-32s writer %8.1f ms   reader %8.1f ms\n", what, 1e3 * writer, 1e3 * reader);
}

static void all_figures(void **state)
{
    size_t mib = *(size_t *)*state;
    double bytes = (double)(mib << 20), seconds, saved = 1e9, copied = 1e9, empty = 1e9, full = 1e9;
    char put[128];
    scratch_make(&scratch);
    snprintf(put, sizeof put, "{'datatype':'INT8','shape':[%zu]}", mib << 20);
    /* Room for a copy, then none. */
    snprintf(memory, sizeof memory, "--tensor_memory=%zuM", 2 * mib + mib / 2);
    struct fixture *f = start(&empty);
    kept_put(f, "t", put);
    for (int i = 0; i < ROUNDS; i++) {
        saved = least(saved, snapshot(f));
        copied = least(copied, copy());
    }
    measure_waits(f, "longest wait, copied in memory");
    fixture_end(f);
    snprintf(memory, sizeof memory, "--tensor_memory=%zuM", mib + mib / 2);
    for (int i = 0; i < ROUNDS; i++) {
        f = start(&seconds);
        full = least(full, seconds);
        if (i == ROUNDS - 1)
            measure_waits(f, "longest wait, no room to copy");
        fixture_end(f);
    }
    printf("%-32s %8.2f GB/s   cp and sync %8.2f GB/s\n", "snapshot, on the disk",
           bytes / saved / 1e9, bytes / copied / 1e9);
    printf("%-32s %8.2f GB/s\n", "load, from the page cache", bytes / (full - empty) / 1e9);
    printf("%-32s %8.0f ms     empty folder %8.0f ms\n", "start to ready", 1e3 * full, 1e3 * empty);
    scratch_remove(&scratch);
}

int main(int argc, char **argv)
{
    size_t mib = argc > 1 ? (size_t)atoi(argv[1]) : 1024;
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(all_figures, &mib)};
    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
