/* Memory: large requests leave nothing behind once the server is idle. */
#include "tests/support/http/gauge.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ELEMENTS = 32 << 20, SLACK_KB = 16 << 10 };

static void send_large(struct fixture *f)
{
    static const int32_t index = 7;
    static const float update = 1;
    float *tensor = calloc(ELEMENTS, sizeof *tensor);
    const struct part parts[] = {
        {"tensor", "FP32", "[33554432]", tensor, (size_t)ELEMENTS * sizeof *tensor},
        {"indices", "INT32", "[1,1]", &index, sizeof index},
        {"updates", "FP32", "[1]", &update, sizeof update},
    };
    struct body body;
    struct answer a;
    size_t size;
    assert_true(body_binary(&body, parts, 3, ",'parameters':{'binary_data_output':true}"));
    assert_true(client_binary(&f->client, "tensor_scatter_add", &body, &a));
    assert_int_equal(a.status, 200);
    const float *out = (const float *)answer_tensors(&a, &size);
    assert_int_equal(size, (size_t)ELEMENTS * sizeof *tensor);
    assert_true(out[7] == 1 && out[8] == 0);
    answer_release(&a);
    body_release(&body);
    free(tensor);
}

static void memory_goes_back_when_the_server_is_idle(void **state)
{
    struct fixture *f = *state;
    fixture_check_alive(f);
    long before = server_memory_kb(&f->server, "VmRSS");
    for (int i = 0; i < 3; i++)
        send_large(f);
    assert_true(server_memory_kb(&f->server, "VmRSS") > before + SLACK_KB);
    for (int tries = 0; server_memory_kb(&f->server, "VmRSS") > before + SLACK_KB; tries++) {
        if (tries == 300)
            fail_msg("idle: %ld kB, before: %ld kB", server_memory_kb(&f->server, "VmRSS"), before);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    assert_true(gauge(f, "tensord_memory_cached_bytes") < SLACK_KB * 1024.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_goes_back_when_the_server_is_idle),
    };
    return cmocka_run_group_tests_name("memory", tests, fixture_start, fixture_stop);
}
