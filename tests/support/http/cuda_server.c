#include "tests/support/http/cuda_server.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fixture cuda_server_start(const char *const *more)
{
    const char *settings[8] = {"--cuda_threshold=0", "--cuda_streams=2"};
    struct fixture f;
    for (int i = 0; more && more[i]; i++)
        settings[i + 2] = more[i];
    assert_true(server_start(&f.server, settings));
    assert_true(client_init(&f.client, f.server.port));
    return f;
}

void cuda_server_stop(struct fixture *f)
{
    client_release(&f->client);
    assert_int_equal(server_stop(&f->server), 0);
}

static int logged(struct fixture *f, const char *text)
{
    char *log = server_log(&f->server);
    int count = 0;
    assert_non_null(log);
    for (const char *at = log; (at = strstr(at, text)); at++)
        count++;
    free(log);
    return count;
}

void expect_logged(struct fixture *f, const char *text, int least)
{
    for (int waits = 0; waits < 500 && logged(f, text) < least; waits++)
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
    assert_true(logged(f, text) >= least);
}

void expect_call(struct fixture *f, const char *path, int status, const char *part)
{
    struct answer a = fixture_call(f, &(struct call){.path = path});
    assert_int_equal(a.status, status);
    expect_part(&a, part);
    answer_release(&a);
}

enum { ROWS = 30000, WIDTH = 8, UPDATES = 2000 };

static float table[ROWS * WIDTH], updates[UPDATES * WIDTH];
static int32_t indices[UPDATES];

struct answer large_call(struct fixture *f, const char *more)
{
    const struct part parts[] = {
        {"tensor", "FP32", "[30000,8]", table, sizeof table},
        {"indices", "INT32", "[2000,1]", indices, sizeof indices},
        {"updates", "FP32", "[2000,8]", updates, sizeof updates},
    };
    struct body body;
    struct answer a;
    for (int k = 0; k < UPDATES; k++) {
        indices[k] = k % 1500;
        for (int j = 0; j < WIDTH; j++)
            updates[k * WIDTH + j] = 1;
    }
    assert_true(body_binary(&body, parts, 3, more));
    assert_true(client_binary(&f->client, "tensor_scatter_add", &body, &a));
    body_release(&body);
    return a;
}

void expect_large(const struct answer *a)
{
    size_t size;
    assert_int_equal(a->status, 200);
    const char *tensors = answer_tensors(a, &size);
    assert_int_equal(size, sizeof table);
    for (int row = 0; row < ROWS; row++) {
        float found;
        memcpy(&found, tensors + (size_t)row * WIDTH * sizeof found, sizeof found);
        assert_true(found == (row < 500 ? 2.0f : row < 1500 ? 1.0f : 0.0f));
    }
}
