/* Soak: mixed requests, errors and reconnections for SOAK_SECONDS (600); memory, descriptors and
 * threads must be flat after the first tenth. `make soak`. */
#include "tests/support/http/crowd.h"
#include "tests/support/http/gauge.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEMBERS = 32, SLACK_KB = 24 << 10 };

static const char small_json[] =
    "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[1]],\"updates\":[5]}}";
static const char bad_json[] = "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[2]],\"updates\":[5]}}";
static const char broken_json[] = "{\"inputs\":";
static const char queued_json[] =
    "{\"inputs\":{\"indices\":[[99999]],\"updates\":[7],\"shape\":[100000]},"
    "\"parameters\":{\"binary_data_output\":true}}";

static const struct kind {
    const char *path, *body;
    int status;
} kinds[] = {
    {"/v2/models/tensor_scatter_add/infer", small_json, 200},
    {"/v2/models/scatter_nd/infer", queued_json, 200},
    {"/v2/models/tensor_scatter_add/infer", bad_json, 400},
    {"/v2/models/tensor_scatter_add/infer", broken_json, 400},
    {"/v2/models/nothing/infer", small_json, 404},
    {"/v2/models/scatter_nd", NULL, 200},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

struct soak {
    time_t end;
    unsigned asked[MEMBERS];
    unsigned long answers, busy;
};

static const struct kind *kind_of(const struct soak *soak, int member)
{
    return &kinds[(soak->asked[member] + (unsigned)member) % KINDS];
}

static bool ask(void *context, int member, struct call *call)
{
    struct soak *soak = context;
    soak->asked[member]++;
    const struct kind *kind = kind_of(soak, member);
    *call = (struct call){.path = kind->path,
                          .body = kind->body,
                          .size = kind->body ? strlen(kind->body) : 0,
                          .chunked = kind->body && soak->asked[member] % 7 == 0};
    if (soak->asked[member] % 11 == 0)
        call->headers[0] = "Connection: close";
    return time(NULL) < soak->end;
}

static bool hear(void *context, int member, const struct answer *a)
{
    struct soak *soak = context;
    if (!a)
        return false;
    soak->answers++;
    if (a->status == 503) { /* shed under load: allowed, and says when to come again */
        soak->busy++;
        return answer_header(a, "Retry-After") != NULL;
    }
    if (a->status != kind_of(soak, member)->status)
        print_error("member %d: status %d, expected %d\n", member, a->status,
                    kind_of(soak, member)->status);
    return a->status == kind_of(soak, member)->status;
}

static void load(struct fixture *f, long seconds)
{
    struct soak soak = {.end = time(NULL) + seconds};
    const struct crowd crowd = {
        .port = f->server.port, .members = MEMBERS, .context = &soak, .ask = ask, .hear = hear};
    assert_true(crowd_run(&crowd));
    assert_true(soak.answers > soak.busy);
    gauge_settle(f, "tensord_open_connections", 1);
    gauge_settle(f, "tensord_open_requests", 1);
    print_message("%ld s: %lu answers, %lu of them 503, VmRSS %ld kB\n", seconds, soak.answers,
                  soak.busy, server_memory_kb(&f->server, "VmRSS"));
}

static void everything_stays_flat(void **state)
{
    struct fixture *f = *state;
    const char *setting = getenv("SOAK_SECONDS");
    long seconds = setting ? atol(setting) : 600;
    load(f, seconds / 10 + 1);
    long memory = server_memory_kb(&f->server, "VmRSS");
    long threads = server_memory_kb(&f->server, "Threads");
    double files = gauge(f, "process_open_fds");
    load(f, seconds);
    assert_true(server_memory_kb(&f->server, "VmRSS") <= memory + SLACK_KB);
    assert_int_equal(server_memory_kb(&f->server, "Threads"), threads);
    assert_true(gauge(f, "process_open_fds") == files);
    fixture_check_alive(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_stays_flat)};
    return cmocka_run_group_tests_name("soak", tests, fixture_start, fixture_stop);
}
