/* Kept tensors and the process's memory: an upload becomes the tensor without a copy, and what is
 * dropped leaves nothing behind. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/preload.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ELEMENTS = 64 << 20, SLACK_KB = 16 << 10, ROUNDS = 1000 };

static int start(void **state)
{
    static const char *const settings[] = {"--tensor_memory=400M", "--log_requests=false", NULL};
    return fixture_start_with(state, settings);
}

static int drop(struct fixture *f)
{
    struct answer a = fixture_call(f, &(struct call){.method = "DELETE", .path = "/v2/tensors/t"});
    int status = a.status;
    answer_release(&a);
    return status;
}

static void an_upload_is_held_once(void **state)
{
    struct fixture *f = *state;
    const size_t bytes = (size_t)ELEMENTS * sizeof(float);
    char *file = calloc(1, bytes + 128);
    const char json[] =
        "{\"t\":{\"dtype\":\"F32\",\"shape\":[67108864],\"data_offsets\":[0,268435456]}}";
    const uint64_t length = sizeof json - 1; /* not a multiple of 8: the elements are moved */
    assert_non_null(file);
    memcpy(file, &length, sizeof length);
    memcpy(file + 8, json, length);
    fixture_check_alive(f);
    long before = server_memory_kb(&f->server, "VmHWM");
    for (int i = 0; i < 2; i++) {
        struct answer a = fixture_call(
            f, &(struct call){.method = "PUT",
                              .path = i == 0 ? "/v2/tensors/t?datatype=FP32&shape=67108864"
                                             : "/v2/tensors/t",
                              .headers = {"Content-Type:"},
                              .body = file,
                              .size = i == 0 ? bytes : bytes + 8 + length});
        if (a.status != 201)
            fail_msg("%d %s", a.status, a.body);
        answer_release(&a);
        long peak = server_memory_kb(&f->server, "VmHWM") - before;
        if (peak > (long)(bytes >> 10) + SLACK_KB)
            fail_msg("an upload of %zu kB took %ld kB", bytes >> 10, peak);
        /* A second one has no room, and is told so before it is sent. */
        a = fixture_call(f, &(struct call){.method = "PUT",
                                           .path = "/v2/tensors/u?datatype=FP32&shape=67108864",
                                           .body = file,
                                           .size = bytes});
        expect_error(&a, 507, "TENSOR_MEMORY_FULL", "");
        answer_release(&a);
        assert_int_equal(drop(f), 204);
    }
    free(file);
    assert_true(gauge(f, "tensord_tensor_memory_used_bytes") == 0);
}

static void what_is_dropped_leaves_nothing_behind(void **state)
{
    struct fixture *f = *state;
    const size_t bytes = 1 << 20;
    if (!PRELOAD_WORKS) /* a sanitizer keeps what was freed */
        skip();
    char *zeros = calloc(1, bytes);
    long warm = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct answer a =
            fixture_call(f, &(struct call){.method = "PUT",
                                           .path = "/v2/tensors/t?datatype=INT8&shape=1048576",
                                           .body = zeros,
                                           .size = bytes});
        assert_int_equal(a.status, 201);
        answer_release(&a);
        assert_int_equal(drop(f), 204);
        if (i == ROUNDS / 10)
            warm = server_memory_kb(&f->server, "VmRSS");
    }
    long after = server_memory_kb(&f->server, "VmRSS");
    if (after > warm + (4 << 10))
        fail_msg("after %d rounds %ld kB, after a tenth of them %ld kB", ROUNDS, after, warm);
    assert_true(gauge(f, "tensord_tensor_memory_used_bytes") == 0);
    assert_true(gauge(f, "tensord_tensors") == 0);
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_upload_is_held_once),
        cmocka_unit_test(what_is_dropped_leaves_nothing_behind),
    };
    return cmocka_run_group_tests_name("tensors_memory", tests, start, fixture_stop);
}
