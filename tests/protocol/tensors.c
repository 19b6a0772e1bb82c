/* Resident tensors over HTTP: every route, what a request may say of them, and every mistake with
 * its error, after which nothing has changed. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int start(void **state)
{
    static const char *const settings[] = {"--tensor_memory=8M", "--tensors_max=6",
                                           "--max_output=64K", "--tensor_keys=4", NULL};
    return fixture_start_with(state, settings);
}

/* A request; in `body` a ' stands for a ". */
static struct answer call(void **state, const char *method, const char *path, const char *header,
                          const char *body)
{
    char *text = body ? quote(body) : NULL;
    struct answer a = fixture_call(*state, &(struct call){.method = method,
                                                          .path = path,
                                                          .headers = {header},
                                                          .body = text,
                                                          .size = text ? strlen(text) : 0});
    free(text);
    return a;
}

static const char json_type[] = "Content-Type: application/json";

static void put(void **state, const char *name, const char *body)
{
    char path[256];
    snprintf(path, sizeof path, "/v2/tensors/%s", name);
    struct answer a = call(state, "PUT", path, json_type, body);
    if (a.status != 200 && a.status != 201)
        fail_msg("%d %s", a.status, a.body);
    answer_release(&a);
}

static void drop(void **state, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "/v2/tensors/%s", name);
    struct answer a = call(state, "DELETE", path, NULL, NULL);
    answer_release(&a);
}

/* The elements, as JSON. */
static void holds(void **state, const char *name, const char *elements)
{
    char path[256], part[512];
    snprintf(path, sizeof path, "/v2/tensors/%s/data", name);
    snprintf(part, sizeof part, "\"data\":%s}", elements);
    struct answer a = call(state, "GET", path, "Accept: application/json", NULL);
    expect_part(&a, part);
    answer_release(&a);
}

static void a_tensor_is_kept_told_read_and_dropped(void **state)
{
    struct answer a = call(state, "PUT", "/v2/tensors/a", json_type,
                           "{'datatype':'FP32','shape':[2,2],'data':[[1,2],[3,4]]}");
    assert_int_equal(a.status, 201);
    expect_part(&a, "\"version\":1,");
    char etag[128];
    strcpy(etag, answer_header(&a, "ETag"));
    answer_release(&a);

    a = call(state, "GET", "/v2/tensors/a", NULL, NULL);
    assert_int_equal(a.status, 200);
    expect_header(&a, "ETag", etag);
    expect_part(&a, "{\"name\":\"a\",\"datatype\":\"FP32\",\"shape\":[2,2],\"bytes\":16,");
    expect_part(&a, "\"expires\":null,\"snapshot_version\":null,\"read_only\":false,"
                    "\"device\":\"cpu\"}");
    answer_release(&a);

    a = call(state, "GET", "/v2/tensors/a/data?rows=1:2", "Accept: application/octet-stream", NULL);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.size, 8);
    assert_memory_equal(a.body, ((float[]){3, 4}), 8);
    expect_header(&a, "ETag", etag);
    expect_header(&a, "Cache-Control", "private, no-cache");
    answer_release(&a);

    a = call(state, "DELETE", "/v2/tensors/a", NULL, NULL);
    assert_int_equal(a.status, 204);
    answer_release(&a);
    a = call(state, "GET", "/v2/tensors/a", NULL, NULL);
    expect_error(&a, 404, "TENSOR_NOT_FOUND", "on this server, ");
    answer_release(&a);
}

static void a_body_comes_raw_as_json_binary_or_safetensors(void **state)
{
    const float elements[4] = {1, 2, 3, 4};
    char file[256] = {0};
    const char *json = "{\"x\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}";
    uint64_t length = strlen(json);
    memcpy(file, &length, 8);
    memcpy(file + 8, json, length);
    memcpy(file + 8 + length, elements, 16);
    const struct call calls[] = {
        {.path = "/v2/tensors/a?datatype=FP32&shape=2,2", .body = elements, .size = 16},
        {.path = "/v2/tensors/a?datatype=FP32&shape=2%2C2", .body = elements, .size = 16},
        {.path = "/v2/tensors/a", .headers = {"Content-Type:"}, .body = file, .size = 24 + length},
        {.path = "/v2/tensors/a",
         .headers = {"Content-Type: application/x-safetensors"},
         .body = file,
         .size = 24 + length,
         .chunked = true},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct call c = calls[i];
        c.method = "PUT";
        struct answer a = fixture_call(*state, &c);
        if (a.status != 200 && a.status != 201)
            fail_msg("%zu: %s", i, a.body);
        answer_release(&a);
        holds(state, "a", "[1.0,2.0,3.0,4.0]");
    }
    char binary[64] = "{\"datatype\":\"FP32\",\"shape\":[2,2]}";
    size_t head = strlen(binary);
    memcpy(binary + head, elements, 16);
    char header[64];
    snprintf(header, sizeof header, "Inference-Header-Content-Length: %zu", head);
    struct answer a = fixture_call(*state, &(struct call){.method = "PUT",
                                                          .path = "/v2/tensors/a",
                                                          .headers = {header},
                                                          .body = binary,
                                                          .size = head + 16});
    assert_int_equal(a.status, 200);
    answer_release(&a);
    holds(state, "a", "[1.0,2.0,3.0,4.0]");
    put(state, "a", "{'datatype':'INT8','shape':[3]}");
    holds(state, "a", "[0,0,0]");
    put(state, "a", "{'data':[[1],[2]]}");
    holds(state, "a", "[1.0,2.0]");
    drop(state, "a");
}

static struct answer infer(void **state, const char *target, const char *header, const char *body)
{
    char path[256];
    snprintf(path, sizeof path, "/v2/models/%s", target);
    return call(state, "POST", path, header, body);
}

static void an_op_reads_a_tensor_and_writes_it_only_when_told_so(void **state)
{
    put(state, "emb", "{'datatype':'FP32','shape':[3,2],'data':[0,1,2,3,4,5]}");
    struct answer a =
        infer(state, "gather_nd/infer?tensor=emb", NULL, "{'inputs':{'indices':[[2],[0]]}}");
    expect_part(&a, "\"parameters\":{\"tensor_version\":1,\"tensor_etag\":\"\\\"");
    expect_part(&a, "\"shape\":[2,2],\"data\":[4.0,5.0,0.0,1.0]");
    answer_release(&a);

    /* Started from a copy: what is only read is never written. */
    a = infer(state, "tensor_scatter_add/infer?tensor=emb", NULL,
              "{'inputs':{'indices':[[1]],'updates':[[10,10]]}}");
    expect_part(&a, "[0.0,1.0,12.0,13.0,4.0,5.0]");
    answer_release(&a);
    holds(state, "emb", "[0.0,1.0,2.0,3.0,4.0,5.0]");

    a = infer(state, "tensor_scatter_add/infer", NULL,
              "{'inputs':{'indices':[[1]],'updates':[[10,10]]},"
              "'parameters':{'tensor':'emb','into':'emb'}}");
    assert_int_equal(a.status, 200);
    expect_part(&a, "\"into_version\":2,");
    expect_part(&a, "\"outputs\":[]}");
    answer_release(&a);
    holds(state, "emb", "[0.0,1.0,12.0,13.0,4.0,5.0]");

    /* Into another name: made, and the first stays. */
    a = infer(state, "tensor_scatter_sub/infer?tensor=emb&into=other", NULL,
              "{'inputs':{'indices':[[0]],'updates':[[1,1]]}}");
    assert_int_equal(a.status, 200);
    answer_release(&a);
    holds(state, "emb", "[0.0,1.0,12.0,13.0,4.0,5.0]");
    holds(state, "other", "[-1.0,0.0,12.0,13.0,4.0,5.0]");
    drop(state, "emb");
    drop(state, "other");
}

static void any_input_may_be_a_tensor(void **state)
{
    put(state, "rows", "{'datatype':'INT32','shape':[3,1],'data':[2,9,0]}");
    put(state, "u", "{'datatype':'INT8','shape':[3],'data':[1,2,3]}");
    struct answer a = infer(state, "tensor_scatter_add/infer", NULL,
                            "{'inputs':{'tensor':{'datatype':'INT8','data':[0,0,0]},"
                            "'indices':{'tensor':'rows'},'updates':{'tensor':'u'}},"
                            "'parameters':{'bad_indices_policy':'IGNORE'}}");
    expect_part(&a, "\"ignored_indices\":1");
    expect_part(&a, "\"indices_version\":1");
    expect_part(&a, "\"data\":[3,0,1]");
    answer_release(&a);
    a = infer(state, "gather_nd/infer", NULL,
              "{'inputs':[{'name':'params','datatype':'INT8','shape':[3],'data':[7,8,9]},"
              "{'name':'indices','datatype':'INT32','shape':[3,1],"
              "'parameters':{'tensor':'rows'}}],'parameters':{'bad_indices_policy':'IGNORE'}}");
    expect_part(&a, "\"data\":[9,0,7]");
    answer_release(&a);
    /* Marked rows were marked in a copy. */
    holds(state, "rows", "[2,9,0]");
    drop(state, "rows");
    drop(state, "u");
}

/* Tuples are flattened in place where they may be; a resident's may not. */
static void tuples_of_a_tensor_stay_as_they_are(void **state)
{
    put(state, "at", "{'datatype':'INT64','shape':[2,2],'data':[1,1,0,1]}");
    for (int i = 0; i < 2; i++) {
        struct answer a = infer(state, "gather_nd/infer", NULL,
                                "{'inputs':{'params':[[1,2],[3,4]],'indices':{'tensor':'at'}}}");
        expect_part(&a, "\"data\":[4.0,2.0]");
        answer_release(&a);
        a = infer(state, "scatter_nd/infer", NULL,
                  "{'inputs':{'indices':{'tensor':'at'},'updates':[5,6],'shape':[2,2]}}");
        expect_part(&a, "\"data\":[0.0,6.0,0.0,5.0]");
        answer_release(&a);
    }
    holds(state, "at", "[1,1,0,1]");
    drop(state, "at");
}

/* The table read twice and written: the result is the same as with copies. */
static void one_tensor_may_be_three_inputs_and_the_output(void **state)
{
    put(state, "a", "{'datatype':'INT64','shape':[3,1],'data':[2,0,1]}");
    struct answer a = infer(state, "tensor_scatter_add/infer?tensor=a&into=a", NULL,
                            "{'inputs':{'indices':{'tensor':'a'},'updates':{'tensor':'a'}}}");
    assert_int_equal(a.status, 200);
    expect_part(&a, "\"into_version\":2");
    answer_release(&a);
    /* a[2] += 2, a[0] += 0, a[1] += 1 */
    holds(state, "a", "[2,1,3]");
    drop(state, "a");
}

static void tritons_regions_are_tensors(void **state)
{
    put(state, "emb", "{'datatype':'FP32','shape':[3,2],'data':[0,1,2,3,4,5]}");
    struct answer a = infer(
        state, "gather_nd/infer", NULL,
        "{'inputs':[{'name':'params','datatype':'FP32','shape':[2,2],'parameters':"
        "{'shared_memory_region':'emb','shared_memory_byte_size':16,'shared_memory_offset':8}},"
        "{'name':'indices','datatype':'INT64','shape':[1,1],'data':[1]}]}");
    expect_part(&a, "\"data\":[4.0,5.0]");
    answer_release(&a);
    a = infer(state, "tensor_scatter_update/infer", NULL,
              "{'inputs':[{'name':'tensor','datatype':'FP32','shape':[3,2],'parameters':"
              "{'shared_memory_region':'emb','shared_memory_byte_size':24}},"
              "{'name':'indices','datatype':'INT64','shape':[1,1],'data':[1]},"
              "{'name':'updates','datatype':'FP32','shape':[1,2],'data':[7,8]}],"
              "'outputs':[{'name':'output','parameters':{'shared_memory_region':'emb',"
              "'shared_memory_byte_size':24}}]}");
    expect_part(&a, "\"outputs\":[{\"name\":\"output\",\"datatype\":\"FP32\",\"shape\":[3,2],"
                    "\"parameters\":{\"shared_memory_region\":\"emb\","
                    "\"shared_memory_byte_size\":24}}]}");
    answer_release(&a);
    holds(state, "emb", "[0.0,1.0,7.0,8.0,4.0,5.0]");
    a = call(state, "GET", "/v2/systemsharedmemory/status", NULL, NULL);
    expect_json(&a, "[{'name':'emb','key':'','offset':0,'byte_size':24}]");
    answer_release(&a);
    drop(state, "emb");
}

static void rows_are_assigned_and_moves_are_one_step(void **state)
{
    put(state, "a", "{'datatype':'INT8','shape':[3,2],'data':[1,2,3,4,5,6]}");
    struct answer a = call(state, "PUT", "/v2/tensors/a/data?rows=1:3", json_type,
                           "{'datatype':'INT8','data':[[7,8],[9,0]]}");
    assert_int_equal(a.status, 200);
    expect_part(&a, "\"version\":2,");
    answer_release(&a);
    holds(state, "a", "[1,2,7,8,9,0]");
    put(state, "a.next", "{'datatype':'INT8','shape':[1],'data':[5]}");
    a = call(state, "PUT", "/v2/tensors/a?move=a.next", NULL, NULL);
    assert_int_equal(a.status, 200);
    answer_release(&a);
    holds(state, "a", "[5]");
    a = call(state, "GET", "/v2/tensors/a.next", NULL, NULL);
    assert_int_equal(a.status, 404);
    answer_release(&a);
    drop(state, "a");
}

static void conditions_are_kept(void **state)
{
    char match[160], not [160];
    put(state, "a", "{'datatype':'INT8','shape':[2],'data':[1,2]}");
    struct answer a = call(state, "GET", "/v2/tensors/a", NULL, NULL);
    snprintf(match, sizeof match, "If-Match: %s", answer_header(&a, "ETag"));
    snprintf(not, sizeof not, "If-None-Match: %s", answer_header(&a, "ETag"));
    answer_release(&a);

    a = call(state, "GET", "/v2/tensors/a/data", not, NULL);
    assert_int_equal(a.status, 304);
    assert_int_equal(a.size, 0);
    expect_header(&a, "Content-Length", "66"); /* as with the body: 64 in front, and 2 elements */
    expect_header(&a, "Transfer-Encoding", NULL);
    answer_release(&a);
    a = infer(state, "tensor_scatter_add/infer?tensor=a&into=a", match,
              "{'inputs':{'indices':[[0]],'updates':[1]}}");
    assert_int_equal(a.status, 200);
    answer_release(&a);
    static const struct {
        const char *method, *path;
        int body;
    } writes[] = {{"PUT", "/v2/tensors/a", 1},
                  {"PUT", "/v2/tensors/a/data?rows=0:1", 1},
                  {"PATCH", "/v2/tensors/a", 2},
                  {"DELETE", "/v2/tensors/a", 0},
                  {"GET", "/v2/tensors/a/data", 0},
                  {"POST", "/v2/models/tensor_scatter_add/infer?tensor=a&into=a", 3},
                  {"POST", "/v2/models/gather_nd/infer?tensor=a", 4}};
    static const char *const bodies[] = {NULL, "{'datatype':'INT8','data':[9]}", "{'ttl':'1h'}",
                                         "{'inputs':{'indices':[[0]],'updates':[1]}}",
                                         "{'inputs':{'indices':[[0]]}}"};
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        a = fixture_call(*state, &(struct call){.method = writes[i].method,
                                                .path = writes[i].path,
                                                .headers = {match, json_type},
                                                .body = NULL});
        answer_release(&a);
        char *text = bodies[writes[i].body] ? quote(bodies[writes[i].body]) : NULL;
        a = fixture_call(*state, &(struct call){.method = writes[i].method,
                                                .path = writes[i].path,
                                                .headers = {match, json_type},
                                                .body = text,
                                                .size = text ? strlen(text) : 0});
        if (a.status != 412)
            fail_msg("%s %s: %d %s", writes[i].method, writes[i].path, a.status, a.body);
        expect_error(&a, 412, "PRECONDITION_FAILED", " is at \\\"");
        answer_release(&a);
        free(text);
    }
    holds(state, "a", "[2,2]");
    a = call(state, "PUT", "/v2/tensors/b", "If-Match: *", "{'datatype':'INT8','shape':[1]}");
    assert_int_equal(a.status, 412);
    answer_release(&a);
    a = call(state, "DELETE", "/v2/tensors/b", "If-Match: *", NULL);
    assert_int_equal(a.status, 412);
    answer_release(&a);
    a = call(state, "PUT", "/v2/tensors/a", "If-None-Match: *", "{'datatype':'INT8','shape':[1]}");
    assert_int_equal(a.status, 412);
    answer_release(&a);
    drop(state, "a");
}

static void a_key_applies_once(void **state)
{
    static const char path[] = "tensor_scatter_add/infer?tensor=a&into=a";
    static const char body[] = "{'inputs':{'indices':[[0]],'updates':[1]}}";
    put(state, "a", "{'datatype':'INT8','shape':[2],'data':[1,2]}");
    struct answer a = infer(state, path, "Idempotency-Key: \"k\"", body);
    assert_int_equal(a.status, 200);
    expect_header(&a, "Idempotent-Replayed", NULL);
    struct answer again = infer(state, path, "Idempotency-Key: k", body);
    assert_int_equal(again.status, 200);
    expect_header(&again, "Idempotent-Replayed", "true");
    assert_string_equal(a.body, again.body);
    expect_header(&again, "ETag", answer_header(&a, "ETag"));
    answer_release(&a);
    answer_release(&again);
    holds(state, "a", "[2,2]");
    a = infer(state, path, "Idempotency-Key: k", "{'inputs':{'indices':[[1]],'updates':[1]}}");
    expect_error(&a, 422, "IDEMPOTENCY_KEY_REUSED", "another request");
    answer_release(&a);
    /* An error releases the key. */
    a = infer(state, path, "Idempotency-Key: e", "{'inputs':{'indices':[[7]],'updates':[1]}}");
    expect_error(&a, 400, "INDEX_OUT_OF_BOUNDS", "");
    answer_release(&a);
    a = infer(state, path, "Idempotency-Key: e", body);
    assert_int_equal(a.status, 200);
    answer_release(&a);
    /* Keys outlive the tensor, and no young one makes room. */
    drop(state, "a");
    a = infer(state, path, "Idempotency-Key: k", body);
    assert_int_equal(a.status, 200);
    expect_header(&a, "Idempotent-Replayed", "true");
    answer_release(&a);
    for (int i = 0; i < 3; i++) {
        char key[64];
        snprintf(key, sizeof key, "Idempotency-Key: put%d", i);
        a = fixture_call(*state, &(struct call){.method = "PUT",
                                                .path = "/v2/tensors/a?datatype=INT8&shape=1",
                                                .headers = {key},
                                                .body = "x",
                                                .size = 1});
        assert_int_equal(a.status, i == 0 ? 201 : i == 1 ? 200 : 503);
        if (i == 2)
            expect_error(&a, 503, "RESOURCE_EXHAUSTED", "tensor_keys");
        answer_release(&a);
    }
    drop(state, "a");
}

static void a_position_applies_once(void **state)
{
    static const char *const positions[] = {"17-0", "17-0", "16-9", "17-1"};
    put(state, "p", "{'datatype':'INT8','shape':[1],'data':[0]}");
    for (int i = 0; i < 4; i++) {
        char position[64];
        snprintf(position, sizeof position, "Update-Position: %s", positions[i]);
        char *text = quote("{'inputs':{'indices':[[0]],'updates':[1]}}");
        struct answer a = fixture_call(
            *state, &(struct call){.path = "/v2/models/tensor_scatter_add/infer?tensor=p&into=p",
                                   .headers = {"Update-Source: log", position},
                                   .body = text,
                                   .size = strlen(text)});
        assert_int_equal(a.status, 200);
        expect_header(&a, "Idempotent-Replayed", i == 1 || i == 2 ? "true" : NULL);
        answer_release(&a);
        free(text);
    }
    holds(state, "p", "[2]");
    drop(state, "p");
    struct answer list = call(state, "GET", "/v2/tensors", NULL, NULL);
    expect_part(&list, "\"positions\":{\"log\":\"17-1\"}");
    answer_release(&list);
}

static void leases_are_set_and_end(void **state)
{
    struct answer a =
        call(state, "PUT", "/v2/tensors/l?ttl=300ms", json_type, "{'datatype':'INT8','shape':[1]}");
    assert_int_equal(a.status, 201);
    assert_null(strstr(a.body, "\"expires\":null"));
    answer_release(&a);
    a = call(state, "PATCH", "/v2/tensors/l", json_type, "{'ttl':null}");
    expect_part(&a, "\"expires\":null");
    answer_release(&a);
    a = call(state, "PATCH", "/v2/tensors/l", json_type, "{'ttl':'200ms'}");
    assert_int_equal(a.status, 200);
    expect_part(&a, "\"version\":1,");
    answer_release(&a);
    struct timespec wait = {.tv_nsec = 250 * 1000000};
    nanosleep(&wait, NULL);
    a = call(state, "GET", "/v2/tensors/l", NULL, NULL);
    assert_int_equal(a.status, 404);
    answer_release(&a);
}

static void the_list_comes_in_pages(void **state)
{
    put(state, "c", "{'datatype':'INT8','shape':[1]}");
    put(state, "a", "{'datatype':'INT8','shape':[1]}");
    put(state, "b", "{'datatype':'INT8','shape':[1]}");
    struct answer a = call(state, "GET", "/v2/tensors?limit=2", NULL, NULL);
    expect_part(&a, "\"tensors\":[{\"name\":\"a\",");
    expect_part(&a, "},{\"name\":\"b\",");
    expect_part(&a, "\"next\":\"b\"}");
    answer_release(&a);
    a = call(state, "GET", "/v2/tensors?after=b", NULL, NULL);
    expect_part(&a, "\"tensors\":[{\"name\":\"c\",");
    expect_part(&a, "],\"next\":null}");
    answer_release(&a);
    drop(state, "a");
    drop(state, "b");
    drop(state, "c");
}

/* ------------------------------------------------------------------------------------- mistakes */

struct mistake {
    const char *method, *path, *header, *body;
    int status;
    const char *code, *part;
};

#define LONG_KEY                                                                                   \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab" \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab" \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab"
#define ADD    "/v2/models/tensor_scatter_add/infer"
#define GATHER "/v2/models/gather_nd/infer"
#define UPDATE "{'inputs':{'indices':[[0]],'updates':[1,1]}}"

static const struct mistake mistakes[] = {
    {"PUT", "/v2/tensors/.a", json_type, "{'data':[1]}", 400, "INVALID_PARAMETER",
     "is no tensor"},
    {"PUT", "/v2/tensors/a%41", json_type, "{'data':[1]}", 400, "INVALID_PARAMETER", "escape"},
    {"PUT", "/v2/tensors/a+b", json_type, "{'data':[1]}", 400, "INVALID_PARAMETER", "name"},
    {"GET", "/v2/tensors/~", NULL, NULL, 400, "INVALID_PARAMETER", "name"},
    {"GET", "/v2/tensors/nothing", NULL, NULL, 404, "TENSOR_NOT_FOUND", "nothing"},
    {"GET", "/v2/tensors/nothing/data", NULL, NULL, 404, "TENSOR_NOT_FOUND", "nothing"},
    {"DELETE", "/v2/tensors/nothing", NULL, NULL, 404, "TENSOR_NOT_FOUND", ""},
    {"PATCH", "/v2/tensors/nothing", json_type, "{'ttl':'1h'}", 404, "TENSOR_NOT_FOUND", ""},
    {"PUT", "/v2/tensors/a?move=nothing", NULL, NULL, 404, "TENSOR_NOT_FOUND", "nothing"},
    {"PUT", "/v2/tensors/a?move=a", NULL, NULL, 400, "INVALID_PARAMETER", "itself"},
    {"PUT", "/v2/tensors/a?move=b", json_type, "{}", 400, "INVALID_FIELD", "no body"},
    {"DELETE", "/v2/tensors/a", json_type, "{}", 400, "INVALID_FIELD", "no body"},
    {"PUT", "/v2/tensors/a", json_type, "{'datatype':'BYTES','shape':[1],'data':['x']}", 400,
     "UNSUPPORTED_DTYPE", "BYTES"},
    {"PUT", "/v2/tensors/a", json_type, "{'datatype':'FP32'}", 400, "INVALID_FIELD", "zeros"},
    {"PUT", "/v2/tensors/a", json_type, "{'datatype':'FP32','shape':[3],'data':[1]}", 400,
     "SIZE_MISMATCH", ""},
    {"PUT", "/v2/tensors/a", json_type, "[1]", 400, "INVALID_FIELD", ""},
    {"PUT", "/v2/tensors/a", "Content-Type:", "{}", 400, "INVALID_HEADER", "looks like JSON"},
    {"PUT", "/v2/tensors/a?datatype=FP32", "Content-Type:", "1234", 400, "INVALID_PARAMETER",
     "belong together"},
    {"PUT", "/v2/tensors/a?datatype=FP33&shape=1", "Content-Type:", "1234", 400,
     "UNSUPPORTED_DTYPE", "FP33"},
    {"PUT", "/v2/tensors/a?datatype=FP32&shape=-1", "Content-Type:", "1234", 400,
     "INVALID_PARAMETER", "shape"},
    {"PUT", "/v2/tensors/a?datatype=FP32&shape=2", "Content-Type:", "1234", 400, "SIZE_MISMATCH",
     "4 bytes"},
    {"PUT", "/v2/tensors/a?datatype=FP32&shape=1&shape=1", "Content-Type:", "1234", 400,
     "INVALID_PARAMETER", "more than once"},
    {"PUT", "/v2/tensors/a?ttl=0", json_type, "{'data':[1]}", 400, "INVALID_PARAMETER", "ttl"},
    {"PUT", "/v2/tensors/a?ttl=-1s", json_type, "{'data':[1]}", 400, "INVALID_PARAMETER", "ttl"},
    {"PUT", "/v2/tensors/a?ttl=100000h", json_type, "{'data':[1]}", 400, "INVALID_PARAMETER",
     "tensor_ttl_max"},
    {"PATCH", "/v2/tensors/a", json_type, "{'ttl':5}", 400, "INVALID_FIELD", "ttl"},
    {"PATCH", "/v2/tensors/a", json_type, "{'shape':[1]}", 400, "INVALID_FIELD", "ttl"},
    {"PATCH", "/v2/tensors/a", json_type, "{'ttl':'0s'}", 400, "INVALID_PARAMETER", "ttl"},
    {"GET", "/v2/tensors/a/data?rows=0:4", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", "3 rows"},
    {"GET", "/v2/tensors/a/data?rows=1:1", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", "a < b"},
    {"GET", "/v2/tensors/a/data?rows=-1:1", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", ""},
    {"GET", "/v2/tensors/a/data?rows=1", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", ""},
    {"GET", "/v2/tensors/a/data?rows=0:99999999999999999999", NULL, NULL, 400, "ROWS_OUT_OF_RANGE",
     ""},
    {"PUT", "/v2/tensors/a/data?rows=0:2", json_type, "{'data':[[1,1]]}", 400, "SHAPE_MISMATCH",
     "[1, 2]"},
    {"PUT", "/v2/tensors/a/data?rows=0:1", json_type, "{'datatype':'INT8','data':[[1,1]]}", 400,
     "UNSUPPORTED_DTYPE", "INT8"},
    {"GET", "/v2/tensors?limit=0", NULL, NULL, 400, "INVALID_PARAMETER", "limit"},
    {"GET", "/v2/tensors?limit=1001", NULL, NULL, 400, "INVALID_PARAMETER", "limit"},
    {"GET", "/v2/tensors?after=.", NULL, NULL, 400, "INVALID_PARAMETER", "after"},
    {"POST", "/v2/tensors/a/snapshot", NULL, NULL, 501, "NOT_SUPPORTED", "memory only"},
    {"POST", "/v2/tensors/a", json_type, "{}", 405, "METHOD_NOT_ALLOWED", "PUT"},
    {"DELETE", "/v2/tensors/a", "If-Match: 5", NULL, 400, "INVALID_HEADER", "If-Match"},
    {"DELETE", "/v2/tensors/a", "Idempotency-Key;", NULL, 400, "INVALID_HEADER", "Idempotency-Key"},
    {"DELETE", "/v2/tensors/a", "Idempotency-Key: " LONG_KEY, NULL, 400, "INVALID_HEADER", "255"},
    {"DELETE", "/v2/tensors/a", "Update-Source: x", NULL, 400, "INVALID_HEADER", "together"},
    {"POST", GATHER "?tensor=nothing", NULL, "{'inputs':{'indices':[[0]]}}", 404,
     "TENSOR_NOT_FOUND", "nothing"},
    {"POST", GATHER "?tensor=.x", NULL, "{'inputs':{'indices':[[0]]}}", 400, "INVALID_PARAMETER",
     "name"},
    {"POST", GATHER "?tensor=a", NULL, "{'inputs':{'params':[1],'indices':[[0]]}}", 400,
     "DUPLICATE_INPUT", "params"},
    {"POST", GATHER "?tensor=a", NULL, "{'inputs':{'indices':[[0]]},'parameters':{'tensor':'a'}}",
     400, "INVALID_PARAMETER", "given twice"},
    {"POST", GATHER "?tensor=a&into=a", NULL, "{'inputs':{'indices':[[0]]}}", 400,
     "INVALID_PARAMETER", "cannot be both"},
    {"POST", GATHER "?tensor=a&into=b", NULL,
     "{'inputs':{'indices':[[0]]},'outputs':[{'name':'output'}]}", 400, "INVALID_PARAMETER",
     "outputs"},
    {"POST", "/v2/models/scatter_nd/infer?tensor=a", NULL,
     "{'inputs':{'indices':[[0]],'updates':[1],'shape':[1]}}", 400, "INVALID_PARAMETER",
     "no table"},
    {"POST", ADD "?tensor=a&into=a", NULL, "{'inputs':{'indices':[[3]],'updates':[[1,1]]}}", 400,
     "INDEX_OUT_OF_BOUNDS", "[3]"},
    {"POST", ADD "?tensor=a&into=a", NULL, UPDATE, 400, "SHAPE_MISMATCH", "updates"},
    {"POST", ADD "?tensor=a&into=a", NULL,
     "{'inputs':{'indices':[[0]],'updates':{'datatype':'INT8','data':[[1,1]]}}}", 400,
     "UNSUPPORTED_DTYPE", "INT8"},
    {"POST", ADD "?tensor=a&into=a", NULL,
     "{'inputs':{'indices':{'tensor':'a'},'updates':[[1,1]]}}", 400, "UNSUPPORTED_DTYPE",
     "indices"},
    {"POST", GATHER, "If-Match: *", "{'inputs':{'params':[1],'indices':[[0]]}}", 400,
     "INVALID_HEADER", "names none"},
    {"POST", GATHER, NULL,
     "{'inputs':[{'name':'params','datatype':'FP32','shape':[3,2],'parameters':"
     "{'shared_memory_region':'a','shared_memory_byte_size':24,'shared_memory_offset':8}},"
     "{'name':'indices','datatype':'INT64','shape':[1,1],'data':[1]}]}",
     400, "SIZE_MISMATCH", "whole rows"},
    {"POST", GATHER, NULL,
     "{'inputs':[{'name':'params','datatype':'FP32','shape':[2,3],'parameters':{'tensor':'a'}},"
     "{'name':'indices','datatype':'INT64','shape':[1,1],'data':[1]}]}",
     400, "SHAPE_MISMATCH", "[3, 2]"},
    {"POST", GATHER, NULL,
     "{'inputs':[{'name':'params','datatype':'FP64','shape':[3,2],'parameters':{'tensor':'a'}},"
     "{'name':'indices','datatype':'INT64','shape':[1,1],'data':[1]}]}",
     400, "UNSUPPORTED_DTYPE", "FP64"},
    {"POST", "/v2/systemsharedmemory/region/a/register", json_type, "{}", 501, "NOT_SUPPORTED", ""},
};

static void every_mistake_has_its_error_and_changes_nothing(void **state)
{
    put(state, "a", "{'datatype':'FP32','shape':[3,2],'data':[1,2,3,4,5,6]}");
    struct answer before = call(state, "GET", "/v2/tensors/a", NULL, NULL);
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        struct answer a = call(state, m->method, m->path, m->header, m->body);
        if (a.status != m->status || !strstr(a.body, m->part))
            print_error("%s %s %s %s: %d %s\n", m->method, m->path, m->header ? m->header : "",
                        m->body ? m->body : "", a.status, a.body);
        expect_error(&a, m->status, m->code, m->part);
        answer_release(&a);
    }
    struct answer after = call(state, "GET", "/v2/tensors/a", NULL, NULL);
    expect_header(&after, "ETag", answer_header(&before, "ETag"));
    answer_release(&before);
    answer_release(&after);
    holds(state, "a", "[1.0,2.0,3.0,4.0,5.0,6.0]");
    struct answer list = call(state, "GET", "/v2/tensors", NULL, NULL);
    assert_null(strstr(list.body, "},{"));
    answer_release(&list);
    drop(state, "a");
}

static void a_file_has_exactly_one_tensor(void **state)
{
    static const char *const headers[] = {
        "{}", "{\"__metadata__\":{\"a\":\"b\"}}",
        ("{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
         "\"y\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}")};
    for (size_t i = 0; i < 3; i++) {
        char file[256] = {0};
        uint64_t length = strlen(headers[i]);
        memcpy(file, &length, 8);
        memcpy(file + 8, headers[i], length);
        struct answer a =
            fixture_call(*state, &(struct call){.method = "PUT",
                                                .path = "/v2/tensors/f",
                                                .headers = {"Content-Type:"},
                                                .body = file,
                                                .size = 8 + length + (i == 2 ? 2 : 0)});
        expect_error(&a, 400, "INVALID_FIELD", "expected one");
        answer_release(&a);
    }
}

static void a_full_store_says_so_before_the_upload(void **state)
{
    char *zeros = calloc(1, 16 << 20);
    struct answer a =
        fixture_call(*state, &(struct call){.method = "PUT",
                                            .path = "/v2/tensors/big?datatype=INT8&shape=9000000",
                                            .body = zeros,
                                            .size = 9000000});
    expect_error(&a, 507, "TENSOR_MEMORY_FULL", "tensor_memory");
    answer_release(&a);
    a = call(state, "PUT", "/v2/tensors/big", json_type, "{'datatype':'INT8','shape':[9000000]}");
    expect_error(&a, 507, "TENSOR_MEMORY_FULL", "nothing is dropped to make room");
    answer_release(&a);
    a = fixture_call(*state, &(struct call){.method = "PUT",
                                            .path = "/v2/tensors/big?datatype=INT8&shape=9000000",
                                            .body = zeros,
                                            .size = 9000000,
                                            .chunked = true});
    expect_error(&a, 507, "TENSOR_MEMORY_FULL", "");
    answer_release(&a);
    for (int i = 0; i < 7; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        if (i < 6)
            put(state, name, "{'datatype':'INT8','shape':[1]}");
    }
    a = call(state, "PUT", "/v2/tensors/n6", json_type, "{'datatype':'INT8','shape':[1]}");
    expect_error(&a, 507, "TENSOR_MEMORY_FULL", "tensors_max");
    answer_release(&a);
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        drop(state, name);
    }
    free(zeros);
}

static void what_is_too_large_is_read_by_rows(void **state)
{
    put(state, "w", "{'datatype':'FP32','shape':[40000,1]}");
    struct answer a = call(state, "GET", "/v2/tensors/w/data", NULL, NULL);
    expect_error(&a, 413, "OUTPUT_TOO_LARGE", "max_output");
    answer_release(&a);
    a = call(state, "GET", "/v2/tensors/w/data?rows=100:200", "Accept: application/octet-stream",
             NULL);
    assert_int_equal(a.size, 400);
    answer_release(&a);
    drop(state, "w");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tensor_is_kept_told_read_and_dropped),
        cmocka_unit_test(a_body_comes_raw_as_json_binary_or_safetensors),
        cmocka_unit_test(an_op_reads_a_tensor_and_writes_it_only_when_told_so),
        cmocka_unit_test(any_input_may_be_a_tensor),
        cmocka_unit_test(tuples_of_a_tensor_stay_as_they_are),
        cmocka_unit_test(one_tensor_may_be_three_inputs_and_the_output),
        cmocka_unit_test(tritons_regions_are_tensors),
        cmocka_unit_test(rows_are_assigned_and_moves_are_one_step),
        cmocka_unit_test(conditions_are_kept),
        cmocka_unit_test(a_key_applies_once),
        cmocka_unit_test(a_position_applies_once),
        cmocka_unit_test(leases_are_set_and_end),
        cmocka_unit_test(the_list_comes_in_pages),
        cmocka_unit_test(every_mistake_has_its_error_and_changes_nothing),
        cmocka_unit_test(a_file_has_exactly_one_tensor),
        cmocka_unit_test(a_full_store_says_so_before_the_upload),
        cmocka_unit_test(what_is_too_large_is_read_by_rows),
    };
    return cmocka_run_group_tests(tests, start, fixture_stop);
}
