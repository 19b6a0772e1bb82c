/* The server with a CUDA device that fails, over HTTP: too little memory, an allocation that fails,
 * a device that is lost. What only the interpreter can be told to do is skipped on a GPU (ON_PTXEMU
 * is not set). */
#include "tests/support/http/cuda_server.h"

#include <stdlib.h>

static const char small[] =
    "{'inputs':{'tensor':[1,2,3,4],'indices':[[1],[3],[1]],'updates':[10,20,5]},"
    "'parameters':{'device':'cuda'}}";

static void must_be_interpreted(void)
{
    if (!getenv("ON_PTXEMU"))
        skip();
}

/* ------------------------------------------------------------------------------------ shortages */

static void a_job_over_the_device_s_memory_fails_alone(void **state)
{
    static const char *const little[] = {"--cuda_memory=1M", NULL};
    struct fixture f = cuda_server_start(little);
    struct answer a = large_call(&f, BINARY_ON("cuda"));
    (void)state;
    expect_error(&a, 503, "RESOURCE_EXHAUSTED", "bytes of memory on CUDA device 0");
    answer_release(&a);
    a = large_call(&f, BINARY_ON("auto"));
    assert_int_equal(a.status, 200);
    answer_release(&a);
    a = fixture_json(&f, "tensor_scatter_add", small);
    assert_int_equal(a.status, 200);
    answer_release(&a);
    cuda_server_stop(&f);
}

static void a_failing_allocation_fails_its_job_alone(void **state)
{
    static const char *const much[] = {"--cuda_memory=1G", NULL};
    (void)state;
    must_be_interpreted();
    setenv("PTXEMU_MEM", "800000", 1);
    struct fixture f = cuda_server_start(much);
    unsetenv("PTXEMU_MEM");
    for (int round = 0; round < 2; round++) {
        struct answer a = large_call(&f, BINARY_ON("cuda"));
        expect_error(&a, 503, "RESOURCE_EXHAUSTED", "CUDA device 0: cudaMalloc: out of memory");
        answer_release(&a);
        a = fixture_json(&f, "tensor_scatter_add", small);
        assert_int_equal(a.status, 200);
        answer_release(&a);
    }
    expect_call(&f, "/v2/health/ready", 200, "");
    expect_logged(&f, "\"device\":\"cuda\"", 4);
    cuda_server_stop(&f);
}

/* -------------------------------------------------------------------------------- a lost device */

/* Kernels of more instructions than this are ended as after an illegal access: the small ones of
 * the self-test and of small requests are not. */
#define FEW_INSTRUCTIONS "60000"

static void with_device_auto_a_lost_device_leaves_the_cpu(void **state)
{
    (void)state;
    must_be_interpreted();
    setenv("PTXEMU_MAXINS", FEW_INSTRUCTIONS, 1);
    struct fixture f = cuda_server_start(NULL);
    unsetenv("PTXEMU_MAXINS");
    struct answer a = fixture_json(&f, "tensor_scatter_add", small);
    assert_int_equal(a.status, 200);
    answer_release(&a);
    a = large_call(&f, BINARY_ON("cuda"));
    expect_error(&a, 500, "INTERNAL", "CUDA device 0: ");
    answer_release(&a);

    a = fixture_json(&f, "tensor_scatter_add", small);
    expect_error(&a, 400, "INVALID_PARAMETER", "this server has no CUDA device");
    answer_release(&a);
    a = large_call(&f, BINARY_ON("auto"));
    assert_int_equal(a.status, 200);
    answer_release(&a);
    expect_call(&f, "/v2/health/ready", 200, "");
    expect_call(&f, "/v2", 200, "\"devices\":[\"cpu\"]");
    expect_call(&f, "/metrics", 200, "tensord_backend_up{backend=\"cuda\"} 0");
    expect_logged(&f, "a CUDA device is lost", 1);
    cuda_server_stop(&f);
}

static void with_device_cuda_a_lost_device_ends_the_server(void **state)
{
    static const char *const only[] = {"--device=cuda", NULL};
    (void)state;
    must_be_interpreted();
    setenv("PTXEMU_MAXINS", FEW_INSTRUCTIONS, 1);
    struct fixture f = cuda_server_start(only);
    unsetenv("PTXEMU_MAXINS");
    struct answer a = large_call(&f, BINARY);
    expect_error(&a, 500, "INTERNAL", "CUDA device 0: ");
    answer_release(&a);
    client_release(&f.client);
    assert_int_equal(server_wait(&f.server), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_over_the_device_s_memory_fails_alone),
        cmocka_unit_test(a_failing_allocation_fails_its_job_alone),
        cmocka_unit_test(with_device_auto_a_lost_device_leaves_the_cpu),
        cmocka_unit_test(with_device_cuda_a_lost_device_ends_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
