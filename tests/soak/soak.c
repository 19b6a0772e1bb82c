/* Soak: mixed requests, errors and reconnections for SOAK_SECONDS (600); memory, descriptors and
 * threads must be flat after the first tenth. `make soak`. */
#include "tests/support/http/crowd.h"
#include "tests/support/http/gauge.h"
#include "tests/support/http/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEMBERS = 32, SLACK_KB = 24 << 10, KEYS = 8 };

static const char small_json[] =
    "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[1]],\"updates\":[5]}}";
static const char bad_json[] = "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[2]],\"updates\":[5]}}";
static const char broken_json[] = "{\"inputs\":";
static const char queued_json[] =
    "{\"inputs\":{\"indices\":[[99999]],\"updates\":[7],\"shape\":[100000]},"
    "\"parameters\":{\"binary_data_output\":true}}";

static const char row[] = "{\"inputs\":{\"indices\":[[5]],\"updates\":[[1,2]]}}";

#define ADD    "/v2/models/tensor_scatter_add/infer"
#define GATHER "/v2/models/gather_nd/infer"
#define SEND(METHOD, PATH, BODY, ...)                                                              \
    {                                                                                              \
        .method = METHOD, .path = PATH, .body = BODY, .statuses = { __VA_ARGS__ }                  \
    }
#define POST(PATH, BODY, ...) SEND("POST", PATH, BODY, __VA_ARGS__)
#define GET(PATH, ...)        SEND("GET", PATH, NULL, __VA_ARGS__)

static const char keyed[] = "Idempotency-Key"; /* one of the member's own */

/* Beside them kept tensors: `table` and `rows` are there from the start, the others come and go. */
static const struct kind {
    const char *path, *body;
    int statuses[3]; /* that it may be answered with */
    const char *method, *header;
} kinds[] = {
    POST(ADD, small_json, 200),
    POST("/v2/models/scatter_nd/infer", queued_json, 200),
    POST(ADD, bad_json, 400),
    POST(ADD, broken_json, 400),
    POST("/v2/models/nothing/infer", small_json, 404),
    GET("/v2/models/scatter_nd", 200),
    POST(GATHER "?tensor=table", "{\"inputs\":{\"indices\":[[7],[999]]}}", 200),
    POST(GATHER, "{\"inputs\":{\"params\":[1,2,3],\"indices\":{\"tensor\":\"rows\"}}}", 200),
    POST(GATHER "?tensor=nothing", "{\"inputs\":{\"indices\":[[7]]}}", 404),
    {.path = ADD "?tensor=table&into=table", .body = row, .statuses = {200}, .header = keyed},
    POST(ADD "?tensor=table&into=table", "{\"inputs\":{\"indices\":[[1000]],\"updates\":[[1,2]]}}",
         400),
    POST(ADD "?tensor=table&into=made", row, 200),
    SEND("DELETE", "/v2/tensors/made", NULL, 204, 404),
    SEND("PUT", "/v2/tensors/brief?ttl=100ms", "{\"datatype\":\"INT8\",\"shape\":[50000]}", 201,
         200),
    SEND("PUT", "/v2/tensors/next", "{\"datatype\":\"INT8\",\"shape\":[9]}", 201, 200),
    SEND("PUT", "/v2/tensors/live?move=next", NULL, 404, 200, 201),
    {.method = "PUT",
     .path = "/v2/tensors/table",
     .body = "{\"data\":[1]}",
     .statuses = {412},
     .header = "If-Match: \"x\""},
    SEND("PUT", "/v2/tensors/table/data?rows=7:9", "{\"data\":[[1,2],[3,4]]}", 200),
    SEND("PATCH", "/v2/tensors/table", "{\"ttl\":\"1h\"}", 200),
    GET("/v2/tensors/table/data?rows=0:500", 200),
    GET("/v2/tensors/table/data?rows=9:7", 400),
    GET("/v2/tensors", 200),
};

enum { KINDS = sizeof kinds / sizeof *kinds };

struct soak {
    time_t end;
    unsigned asked[MEMBERS];
    char keys[MEMBERS][64];
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
    *call = (struct call){.method = kind->method,
                          .path = kind->path,
                          .body = kind->body,
                          .size = kind->body ? strlen(kind->body) : 0,
                          .chunked = kind->body && soak->asked[member] % 7 == 0};
    int headers = 0;
    if (kind->header == keyed) {
        snprintf(soak->keys[member], sizeof soak->keys[member], "Idempotency-Key: %d-%u", member,
                 soak->asked[member] / KINDS % KEYS);
        call->headers[headers++] = soak->keys[member];
    } else if (kind->header) {
        call->headers[headers++] = kind->header;
    }
    if (soak->asked[member] % 11 == 0)
        call->headers[headers] = "Connection: close";
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
    const struct kind *kind = kind_of(soak, member);
    bool is_right = false;
    for (int i = 0; i < 3; i++)
        is_right |= a->status == kind->statuses[i];
    if (!is_right)
        print_error("member %d: %s: status %d, expected %d: %s\n", member, kind->path, a->status,
                    kind->statuses[0], a->body);
    return is_right;
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
    gauge_settle(f, "tensord_tensor_waiting", 0);
    kept_drop(f, "made");
    kept_drop(f, "next");
    kept_drop(f, "live");
    gauge_settle(f, "tensord_tensors", 2); /* leases have ended */
    print_message("%ld s: %lu answers, %lu of them 503, VmRSS %ld kB\n", seconds, soak.answers,
                  soak.busy, server_memory_kb(&f->server, "VmRSS"));
}

static void everything_stays_flat(void **state)
{
    struct fixture *f = *state;
    const char *setting = getenv("SOAK_SECONDS");
    long seconds = setting ? atol(setting) : 600;
    kept_put(f, "table", "{'datatype':'FP32','shape':[1000,2]}");
    kept_put(f, "rows", "{'datatype':'INT64','shape':[2,1],'data':[0,2]}");
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
