/* gpus: which devices are used and which jobs go to them, with a backend that only says what it is
 * asked for. */
#include "server/jobs/gpus.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { DEVICES = 3, AVAILABLE = 1000 };

static size_t need;

static int three_devices(void)
{
    return DEVICES;
}

static int no_devices(void)
{
    return 0;
}

static size_t available(int device)
{
    return AVAILABLE * (size_t)(device + 1);
}

static bool can_run(const struct plan *plan)
{
    return plan->dtype != DTYPE_BYTES;
}

static size_t memory(const struct plan *plan)
{
    (void)plan;
    return need;
}

static struct backend fake = {.name = "fake",
                              .devices = three_devices,
                              .available = available,
                              .can_run = can_run,
                              .memory = memory};
static struct config config;
static struct gpus gpus;
static struct error error;
static struct job job;

static int set_up(void **state)
{
    (void)state;
    fake.devices = three_devices;
    need = 0;
    config_init(&config);
    error_clear(&error);
    memset(&job, 0, sizeof job);
    job.request.device = DEVICE_DEFAULT;
    job.request.device_index = -1;
    job.plan.touched_bytes = SIZE_MAX;
    return 0;
}

static void set(const char *name, const char *value)
{
    assert_int_equal(config_set(&config, name, value, &error), ERROR_NONE);
}

static void start(void)
{
    assert_int_equal(gpus_init(&gpus, &config, &fake, &error), ERROR_NONE);
}

/* Chooses a device for the job, as if it had none. */
static int choose(void)
{
    job.gpu = GPU_UNKNOWN;
    gpus_choose(&gpus, &job);
    return job.gpu;
}

static void all_devices_are_used_and_share_what_is_free(void **state)
{
    (void)state;
    set("cuda_streams", "3");
    start();
    assert_int_equal(gpus.count, DEVICES);
    assert_int_equal(gpus.list[2].device, 2);
    assert_int_equal(gpus.list[0].lane_bytes, AVAILABLE / 10 * 9 / 3);
    assert_int_equal(gpus.list[2].lane_bytes, 3 * AVAILABLE / 10 * 9 / 3);
}

static void memory_can_be_set(void **state)
{
    (void)state;
    set("cuda_memory", "4M");
    start();
    assert_int_equal(gpus.list[1].lane_bytes, 2 << 20);
}

static void devices_can_be_listed(void **state)
{
    (void)state;
    static const char *const lists[] = {"2,0", "2, 0", "2 0,"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        set("cuda_devices", lists[i]);
        start();
        assert_int_equal(gpus.count, 2);
        assert_int_equal(gpus.list[0].device, 2);
        assert_int_equal(gpus.list[1].device, 0);
    }
}

static void a_list_of_other_things_is_refused(void **state)
{
    static const char *const lists[] = {"3", "x", "-1", "1x", "1+2", "0,0", ","};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        set("cuda_devices", lists[i]);
        assert_int_equal(gpus_init(&gpus, &config, &fake, &error), ERROR_INVALID_PARAMETER);
    }
}

static void without_devices_the_cpu_serves_unless_cuda_was_asked_for(void **state)
{
    (void)state;
    fake.devices = no_devices;
    start();
    assert_int_equal(gpus_available(&gpus), 0);
    assert_string_equal(gpus.absence, "no CUDA device was found");
    assert_int_equal(choose(), GPU_NONE);
    assert_int_equal(gpus_init(&gpus, &config, NULL, &error), ERROR_NONE);
    assert_string_equal(gpus.absence, "this program was built without CUDA");

    set("device", "cuda");
    assert_int_equal(gpus_init(&gpus, &config, &fake, &error), ERROR_INTERNAL);
    assert_string_equal(error.message, "device is cuda, but no CUDA device was found");
    assert_int_equal(gpus_init(&gpus, &config, NULL, &error), ERROR_INTERNAL);
}

static void memory_is_pinned_where_devices_are_preferred(void **state)
{
    (void)state;
    start();
    assert_false(gpus_are_preferred(&gpus));
    set("device", "cuda");
    start();
    assert_true(gpus_are_preferred(&gpus));
    set("device", "cpu");
    start();
    assert_false(gpus_are_preferred(&gpus));
}

static void the_setting_cpu_looks_for_none(void **state)
{
    (void)state;
    set("device", "cpu");
    start();
    assert_int_equal(gpus.count, 0);
}

static void jobs_take_turns_among_devices(void **state)
{
    (void)state;
    start();
    for (int i = 0; i < 2 * DEVICES; i++)
        assert_int_equal(choose(), i % DEVICES);
    job.request.device_index = 1;
    assert_int_equal(choose(), 1);
    assert_int_equal(choose(), 1);
}

static void a_job_is_placed_once(void **state)
{
    (void)state;
    start();
    assert_int_equal(choose(), 0);
    gpus_choose(&gpus, &job);
    assert_int_equal(job.gpu, 0);
    assert_int_equal(choose(), 1);
    job.gpu = GPU_NONE;
    gpus_choose(&gpus, &job);
    assert_int_equal(job.gpu, GPU_NONE);
}

static void a_request_chooses(void **state)
{
    (void)state;
    set("cuda_devices", "0");
    start();
    job.request.device = DEVICE_CPU;
    assert_int_equal(choose(), GPU_NONE);
    job.request.device = DEVICE_CUDA;
    assert_int_equal(choose(), 0);
}

static void small_jobs_stay_on_the_cpu(void **state)
{
    (void)state;
    set("cuda_threshold", "1M");
    set("cuda_devices", "0");
    start();
    job.plan.touched_bytes = (1 << 20) - 1;
    assert_int_equal(choose(), GPU_NONE);
    job.request.device = DEVICE_CUDA;
    assert_int_equal(choose(), GPU_NONE);
    job.plan.touched_bytes = 1 << 20;
    assert_int_equal(choose(), 0);
}

static void what_the_backend_cannot_run_stays_on_the_cpu(void **state)
{
    (void)state;
    start();
    job.plan.dtype = DTYPE_BYTES;
    job.request.device = DEVICE_CUDA;
    assert_int_equal(choose(), GPU_NONE);
}

static void what_is_too_large_goes_to_the_device_only_when_asked(void **state)
{
    (void)state;
    set("cuda_devices", "0");
    start();
    need = gpus.list[0].lane_bytes;
    assert_int_equal(choose(), 0);
    need++;
    assert_int_equal(choose(), GPU_NONE);
    job.request.device = DEVICE_CUDA;
    assert_int_equal(choose(), 0);
}

static void lost_devices_are_used_no_more(void **state)
{
    (void)state;
    start();
    assert_true(gpus_lose(&gpus));
    assert_false(gpus_lose(&gpus));
    assert_int_equal(gpus_available(&gpus), 0);
    assert_int_equal(choose(), GPU_NONE);
    assert_false(gpus_are_missed(&gpus));
    set("device", "cuda");
    assert_true(gpus_are_missed(&gpus));
}

static void a_failed_self_test_leaves_the_cpu_unless_cuda_was_asked_for(void **state)
{
    (void)state;
    start();
    error_set(&error, ERROR_INTERNAL, NULL, "self-test: a wrong result");
    assert_int_equal(gpus_give_up(&gpus, &error), ERROR_NONE);
    assert_int_equal(error.code, ERROR_NONE);
    assert_int_equal(gpus_available(&gpus), 0);
    assert_string_equal(gpus.absence, "self-test: a wrong result");

    set("device", "cuda");
    start();
    error_set(&error, ERROR_INTERNAL, NULL, "self-test: a wrong result");
    assert_int_equal(gpus_give_up(&gpus, &error), ERROR_INTERNAL);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup(NAME, set_up)
    const struct CMUnitTest tests[] = {
        TEST(all_devices_are_used_and_share_what_is_free),
        TEST(memory_can_be_set),
        TEST(devices_can_be_listed),
        TEST(a_list_of_other_things_is_refused),
        TEST(without_devices_the_cpu_serves_unless_cuda_was_asked_for),
        TEST(memory_is_pinned_where_devices_are_preferred),
        TEST(the_setting_cpu_looks_for_none),
        TEST(jobs_take_turns_among_devices),
        TEST(a_job_is_placed_once),
        TEST(a_request_chooses),
        TEST(small_jobs_stay_on_the_cpu),
        TEST(what_the_backend_cannot_run_stays_on_the_cpu),
        TEST(what_is_too_large_goes_to_the_device_only_when_asked),
        TEST(lost_devices_are_used_no_more),
        TEST(a_failed_self_test_leaves_the_cpu_unless_cuda_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
