/* Requests from end to end, on a CUDA device and on the CPU: medians, best and worst.
 *
 *   served_bench [MIB]      MIB: of the tensor, 64 by default */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, UPDATES = 100000 };

/* A tensor of floats and updates of some of them, as one body. */
static void make_body(struct body *b, size_t mib)
{
    size_t count = mib << 18;
    float *tensor = calloc(count, sizeof *tensor), *updates = calloc(UPDATES, sizeof *updates);
    int32_t *indices = calloc(UPDATES, sizeof *indices);
    char shape[32];
    assert_true(tensor && updates && indices);
    for (size_t k = 0; k < UPDATES; k++) {
        updates[k] = (float)k;
        indices[k] = (int32_t)(k * 2654435761u % count);
    }
    snprintf(shape, sizeof shape, "[%zu]", count);
    char rows[] = "[100000,1]", values[] = "[100000]";
    const struct part parts[] = {
        {"tensor", "FP32", shape, tensor, count * sizeof *tensor},
        {"indices", "INT32", rows, indices, UPDATES * sizeof *indices},
        {"updates", "FP32", values, updates, UPDATES * sizeof *updates},
    };
    assert_true(body_binary(b, parts, 3, ",'parameters':{'binary_data_output':true}"));
    free(tensor);
    free(updates);
    free(indices);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

static void bench(const char *device, const struct body *body, size_t mib)
{
    char setting[32];
    const char *settings[] = {setting, "--cuda_threshold=0", NULL};
    struct server server;
    struct client client;
    double ms[ROUNDS];
    snprintf(setting, sizeof setting, "--device=%s", device);
    assert_true(server_start(&server, settings));
    assert_true(client_init(&client, server.port));
    for (int i = -2; i < ROUNDS; i++) {
        struct answer a;
        double start = now_ms();
        assert_true(client_binary(&client, "tensor_scatter_add", body, &a));
        if (i >= 0)
            ms[i] = now_ms() - start;
        assert_int_equal(a.status, 200);
        answer_release(&a);
    }
    qsort(ms, ROUNDS, sizeof *ms, by_size);
    printf("%zu MiB and 100,000 updates, device=%-5s median %8.1f ms, best %8.1f, worst %8.1f\n",
           mib, device, ms[ROUNDS / 2], ms[0], ms[ROUNDS - 1]);
    client_release(&client);
    assert_int_equal(server_stop(&server), 0);
}

int main(int argc, char **argv)
{
    size_t mib = argc > 1 ? (size_t)atoll(argv[1]) : 64;
    struct body body;
    make_body(&body, mib);
    bench("cpu", &body, mib);
    bench("cuda", &body, mib);
    body_release(&body);
    return 0;
}
