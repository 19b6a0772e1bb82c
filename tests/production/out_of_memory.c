/* Every allocation fails in turn while requests of all kinds are served: each is answered right, or
 * refused, or its connection ends; and the next one is served as ever. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/preload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A request of each kind makes at least SUFFERED_LEAST allocations that it cannot do without: where
 * fewer fail it, nothing was made to fail. */
enum { ALLOCATIONS = 120, SUFFERED_LEAST = 3, LARGE = 1 << 20 };

static atomic_long *left; /* the server's allocations until one fails; 0: none does */
static char *large_json;  /* goes through the queue, and its body through growing blocks */

static int start(void **state)
{
    large_json = malloc(LARGE + 200);
    int head =
        sprintf(large_json, "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[1]],\"updates\":[5]}}");
    memset(large_json + head, ' ', LARGE);
    large_json[head + LARGE] = '\0';
    return starve_start(state, NULL, &left);
}

static int stop(void **state)
{
    free(large_json);
    return fixture_stop(state);
}

enum outcome { SERVED, REFUSED, CUT };

static enum outcome check(struct raw *r, bool sent, const char *what, int n)
{
    struct answer a;
    if (!sent || !raw_read(r, &a, false))
        return CUT;
    bool ok = a.status == 200 || a.status == 201 || a.status == 204;
    if (!ok && a.status != 503 && a.status != 500)
        fail_msg("%s, allocation %d: status %d: %s", what, n, a.status, a.body);
    if (!ok)
        assert_non_null(answer_header(&a, "Error-Code"));
    answer_release(&a);
    return ok ? SERVED : REFUSED;
}

#define INFER "POST /v2/models/tensor_scatter_add/infer HTTP/1.1\r\nHost: t\r\n"

static const char small_json[] =
    "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[1]],\"updates\":[5]}}";

static bool say_small(struct raw *r)
{
    return raw_printf(r, INFER "Content-Length: %zu\r\n\r\n%s", strlen(small_json), small_json);
}

static bool say_large(struct raw *r)
{
    return raw_printf(r, INFER "Content-Length: %zu\r\n\r\n", strlen(large_json)) &&
           raw_puts(r, large_json);
}

static bool say_chunks(struct raw *r)
{
    return raw_printf(r, INFER "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", strlen(large_json)) &&
           raw_puts(r, large_json) && raw_puts(r, "\r\n0\r\n\r\n");
}

static bool ask_metadata(struct raw *r)
{
    return raw_puts(r, "GET /openapi.json HTTP/1.1\r\nHost: t\r\n\r\n");
}

#define LOCAL " HTTP/1.1\r\nHost: localhost\r\n"

static bool put_tensor(struct raw *r)
{
    static int position;
    return raw_printf(r,
                      "PUT /v2/tensors/other?datatype=INT8&shape=4" LOCAL "Update-Source: s\r\n"
                      "Update-Position: %d\r\nContent-Length: 4\r\n\r\nabcd",
                      ++position);
}

/* Adds 1 under a key that is new each time. */
static bool add_one(struct raw *r)
{
    static const char json[] =
        "{\"inputs\":{\"indices\":[[0]],\"updates\":{\"datatype\":\"INT64\",\"data\":[1]}}}";
    static int key;
    return raw_printf(r,
                      "POST /v2/models/tensor_scatter_add/infer?tensor=kept&into=kept" LOCAL
                      "Idempotency-Key: %d\r\nContent-Length: %zu\r\n\r\n%s",
                      key++, strlen(json), json);
}

static bool assign_rows(struct raw *r)
{
    static int key;
    return raw_printf(r,
                      "PUT /v2/tensors/other/data?rows=1:3&datatype=INT8&shape=2" LOCAL
                      "Idempotency-Key: rows-%d\r\nContent-Length: 2\r\n\r\nab",
                      key++);
}

/* Stores a file of one element under a name that is new each time. */
static bool put_file(struct raw *r)
{
    static const char json[] = "{\"x\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    static const uint64_t length = sizeof json - 1;
    return raw_printf(r, "PUT /v2/tensors/file?ttl=1h" LOCAL "Content-Length: %zu\r\n\r\n",
                      sizeof length + sizeof json) &&
           raw_send(r, &length, sizeof length) && raw_send(r, json, sizeof json);
}

static bool make_another(struct raw *r)
{
    static const char json[] =
        "{\"inputs\":{\"indices\":[[0]],\"updates\":{\"datatype\":\"INT64\",\"data\":[1]}}}";
    return raw_printf(r,
                      "POST /v2/models/tensor_scatter_add/infer?tensor=kept&into=made" LOCAL
                      "Content-Length: %zu\r\n\r\n%s",
                      strlen(json), json);
}

static bool set_lease(struct raw *r)
{
    static int key;
    return raw_printf(r,
                      "PATCH /v2/tensors/other" LOCAL
                      "Idempotency-Key: lease-%d\r\nContent-Length: 12\r\n\r\n{\"ttl\":\"1h\"}",
                      key++);
}

static bool move_one(struct raw *r)
{
    static int key;
    return raw_printf(r,
                      "PUT /v2/tensors/moved?move=next" LOCAL
                      "Idempotency-Key: move-%d\r\nContent-Length: 0\r\n\r\n",
                      key++);
}

static bool drop_one(struct raw *r)
{
    static int key;
    return raw_printf(r, "DELETE /v2/tensors/dropped" LOCAL "Idempotency-Key: drop-%d\r\n\r\n",
                      key++);
}

static bool list_all(struct raw *r)
{
    return raw_puts(r, "GET /v2/tensors" LOCAL "\r\n");
}

static bool read_rows(struct raw *r)
{
    return raw_puts(r, "GET /v2/tensors/kept/data" LOCAL "Accept: application/json\r\n\r\n");
}

static const struct {
    const char *what;
    bool (*say)(struct raw *r);
    const char *takes; /* a tensor that is gone once it is served */
} kinds[] = {{"a small request", say_small, NULL},
             {"a large request", say_large, NULL},
             {"a chunked request", say_chunks, NULL},
             {"a question", ask_metadata, NULL},
             {"a tensor to keep", put_tensor, NULL},
             {"a write of a kept tensor", add_one, NULL},
             {"rows of a kept tensor", assign_rows, NULL},
             {"a file to keep", put_file, NULL},
             {"a result to keep", make_another, NULL},
             {"a lease", set_lease, NULL},
             {"a move", move_one, "next"},
             {"an end", drop_one, "dropped"},
             {"the kept tensors", list_all, NULL},
             {"a read of a kept tensor", read_rows, NULL}};

/* Whatever failed, the tensor is the sum of as many ones as it has versions. */
static void check_kept(struct fixture *f)
{
    char part[64];
    struct answer a = fixture_call(f, &(struct call){.path = "/v2/tensors/kept"});
    const char *version = strstr(a.body, "\"version\":");
    assert_non_null(version);
    snprintf(part, sizeof part, "\"data\":[%d]", atoi(version + 10) - 1);
    answer_release(&a);
    a = fixture_call(f, &(struct call){.path = "/v2/tensors/kept/data",
                                       .headers = {"Accept: application/json"}});
    expect_part(&a, part);
    answer_release(&a);
}

static void make(struct fixture *f, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/v2/tensors/%s?datatype=INT8&shape=1", name);
    struct answer a =
        fixture_call(f, &(struct call){.method = "PUT", .path = path, .body = "x", .size = 1});
    assert_true(a.status == 200 || a.status == 201);
    answer_release(&a);
}

/* The tensor is gone where the request was served, and there where it was refused. */
static void check_taken(struct fixture *f, const char *name, enum outcome outcome)
{
    char path[64];
    snprintf(path, sizeof path, "/v2/tensors/%s", name);
    struct answer a = fixture_call(f, &(struct call){.path = path});
    if (outcome != CUT)
        assert_int_equal(a.status, outcome == SERVED ? 404 : 200);
    answer_release(&a);
}

/* The k-th kind of request, whose n-th allocation fails. */
static enum outcome suffer(struct fixture *f, size_t k, int n)
{
    const char *takes = kinds[k].takes;
    if (takes)
        make(f, takes);
    atomic_store(left, n);
    struct raw r = fixture_raw(f);
    enum outcome outcome = check(&r, kinds[k].say(&r), kinds[k].what, n);
    raw_close(&r);
    atomic_store(left, 0);
    if (takes)
        check_taken(f, takes, outcome);
    return outcome;
}

static void each_allocation_may_fail(void **state)
{
    struct fixture *f = *state;
    fixture_check_alive(f);
    static const int64_t zero;
    struct answer a =
        fixture_call(f, &(struct call){.method = "PUT",
                                       .path = "/v2/tensors/kept?datatype=INT64&shape=1",
                                       .body = &zero,
                                       .size = sizeof zero});
    assert_int_equal(a.status, 201);
    answer_release(&a);
    a = fixture_call(f, &(struct call){.method = "PUT",
                                       .path = "/v2/tensors/other?datatype=INT8&shape=4",
                                       .body = "abcd",
                                       .size = 4});
    assert_int_equal(a.status, 201);
    answer_release(&a);
    double open = gauge(f, "tensord_open_requests"), used = gauge(f, "tensord_memory_used_bytes");
    int suffered[sizeof kinds / sizeof *kinds] = {0};
    for (int n = 1; n <= ALLOCATIONS; n++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            suffered[k] += suffer(f, k, n) != SERVED;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (suffered[k] < SUFFERED_LEAST)
            fail_msg("%s: only %d allocations fail it", kinds[k].what, suffered[k]);
    fixture_check_alive(f);
    check_kept(f);
    gauge_settle(f, "tensord_open_requests", open);
    gauge_settle(f, "tensord_memory_used_bytes", used);
    gauge_settle(f, "tensord_open_connections", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail)};
    if (!PRELOAD_WORKS) {
        puts("a sanitizer has allocations of its own");
        return 77;
    }
    return cmocka_run_group_tests_name("out_of_memory", tests, start, stop);
}
