/* Resident tensors over HTTP: every route, and what a request may say of them. */
#include "tests/support/http/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int start(void **state)
{
    static const char *const settings[] = {"--tensor_memory=8M", "--tensors_max=6",
                                           "--max_output=64K", NULL};
    return fixture_start_with(state, settings);
}

static void a_tensor_is_kept_told_read_and_dropped(void **state)
{
    struct fixture *f = *state;
    struct answer a = kept_call(f, "PUT", "/v2/tensors/a", kept_json_type,
                                "{'datatype':'FP32','shape':[2,2],'data':[[1,2],[3,4]]}");
    assert_int_equal(a.status, 201);
    expect_part(&a, "\"version\":1,");
    char etag[128];
    strcpy(etag, answer_header(&a, "ETag"));
    answer_release(&a);

    a = kept_call(f, "GET", "/v2/tensors/a", NULL, NULL);
    assert_int_equal(a.status, 200);
    expect_header(&a, "ETag", etag);
    expect_part(&a, "{\"name\":\"a\",\"datatype\":\"FP32\",\"shape\":[2,2],\"bytes\":16,");
    expect_part(&a, "\"expires\":null,\"snapshot_version\":null,\"read_only\":false,"
                    "\"device\":\"cpu\"}");
    answer_release(&a);

    a = kept_call(f, "GET", "/v2/tensors/a/data?rows=1:2", "Accept: application/octet-stream",
                  NULL);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.size, 8);
    assert_memory_equal(a.body, ((float[]){3, 4}), 8);
    expect_header(&a, "ETag", etag);
    expect_header(&a, "Cache-Control", "private, no-cache");
    answer_release(&a);

    a = kept_call(f, "DELETE", "/v2/tensors/a", NULL, NULL);
    assert_int_equal(a.status, 204);
    answer_release(&a);
    a = kept_call(f, "GET", "/v2/tensors/a", NULL, NULL);
    expect_error(&a, 404, "TENSOR_NOT_FOUND", "on this server, ");
    answer_release(&a);
}

static void a_body_comes_raw_as_json_binary_or_safetensors(void **state)
{
    struct fixture *f = *state;
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
        struct answer a = fixture_call(f, &c);
        if (a.status != 200 && a.status != 201)
            fail_msg("%zu: %s", i, a.body);
        answer_release(&a);
        kept_holds(f, "a", "[1.0,2.0,3.0,4.0]");
    }
    char binary[64] = "{\"datatype\":\"FP32\",\"shape\":[2,2]}";
    size_t head = strlen(binary);
    memcpy(binary + head, elements, 16);
    char header[64];
    snprintf(header, sizeof header, "Inference-Header-Content-Length: %zu", head);
    struct answer a = fixture_call(f, &(struct call){.method = "PUT",
                                                     .path = "/v2/tensors/a",
                                                     .headers = {header},
                                                     .body = binary,
                                                     .size = head + 16});
    assert_int_equal(a.status, 200);
    answer_release(&a);
    kept_holds(f, "a", "[1.0,2.0,3.0,4.0]");
    kept_put(f, "a", "{'datatype':'INT8','shape':[3]}");
    kept_holds(f, "a", "[0,0,0]");
    kept_put(f, "a", "{'data':[[1],[2]]}");
    kept_holds(f, "a", "[1.0,2.0]");
    kept_drop(f, "a");
}

static void what_the_url_cannot_say_is_told(void **state)
{
    static const char infer[] = "{\"inputs\":{\"params\":[1],\"indices\":[[7]]}}";
    static const struct {
        const char *method, *path, *body, *sentence; /* NULL: it is ignored */
    } rows[] = {
        {"POST", "/v2/models/gather_nd/infer?tensr=a", infer,
         "the URL has no \\\"tensr\\\"; did you mean \\\"tensor\\\"?"},
        {"POST", "/v2/models/gather_nd/infer?Into=a", infer, "did you mean \\\"into\\\"?"},
        {"POST", "/v2/models/gather_nd/infer?bad_indices_policy=IGNORE", infer,
         "\\\"bad_indices_policy\\\" says nothing in the URL; bad_indices_policy belongs into the "
         "parameters of the request"},
        {"POST", "/v2/models/gather_nd/infer?devcie=cpu", infer, "device belongs into"},
        {"POST", "/v2/models/gather_nd/infer?into=a&ttl=1h", infer,
         "ttl says nothing in this URL, which takes tensor, into"},
        {"PUT", "/v2/tensors/a?rows=0:1", "{\"data\":[1]}",
         "rows says nothing in this URL, which takes move, datatype, shape, ttl"},
        {"PUT", "/v2/tensors/a?data_type=FP32&shape=1", "abcd", "did you mean \\\"datatype\\\"?"},
        {"PUT", "/v2/tensors/a/data?rows=0:1&ttl=1h", "{\"data\":[1]}", "ttl says nothing"},
        {"GET", "/v2/tensors/a/data?row=0:1", NULL, "did you mean \\\"rows\\\"?"},
        {"GET", "/v2/tensors?limits=5", NULL, "did you mean \\\"limit\\\"?"},
        {"DELETE", "/v2/tensors/a?rows=0:1", NULL,
         "rows says nothing in this URL, which takes nothing"},
        {"PUT", "/v2/tensors/a?datatype=FP32&shape=9007199254740992,0", "",
         "expected are at most 16 sizes up to 2^53 - 1"},
        {"POST", "/v2/models/gather_nd/infer?_=17&user=me&trace", infer, NULL},
        {"GET", "/v2/tensors?_=17", NULL, NULL},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer a =
            fixture_call(f, &(struct call){.method = rows[i].method,
                                           .path = rows[i].path,
                                           .body = rows[i].body,
                                           .size = rows[i].body ? strlen(rows[i].body) : 0});
        if (rows[i].sentence)
            expect_error(&a, 400, "INVALID_PARAMETER", rows[i].sentence);
        else
            assert_null(strstr(a.body, "INVALID_PARAMETER"));
        answer_release(&a);
    }
}

static void an_op_reads_a_tensor_and_writes_it_only_when_told_so(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "emb", "{'datatype':'FP32','shape':[3,2],'data':[0,1,2,3,4,5]}");
    struct answer a =
        kept_infer(f, "gather_nd/infer?tensor=emb", NULL, "{'inputs':{'indices':[[2],[0]]}}");
    expect_part(&a, "\"parameters\":{\"tensor_version\":1,\"tensor_etag\":\"\\\"");
    expect_part(&a, "\"shape\":[2,2],\"data\":[4.0,5.0,0.0,1.0]");
    answer_release(&a);

    /* The operation starts from a copy: a tensor that is only read is not written. */
    a = kept_infer(f, "tensor_scatter_add/infer?tensor=emb", NULL,
                   "{'inputs':{'indices':[[1]],'updates':[[10,10]]}}");
    expect_part(&a, "[0.0,1.0,12.0,13.0,4.0,5.0]");
    answer_release(&a);
    kept_holds(f, "emb", "[0.0,1.0,2.0,3.0,4.0,5.0]");

    a = kept_infer(f, "tensor_scatter_add/infer", NULL,
                   "{'inputs':{'indices':[[1]],'updates':[[10,10]]},"
                   "'parameters':{'tensor':'emb','into':'emb'}}");
    assert_int_equal(a.status, 200);
    expect_part(&a, "\"into_version\":2,");
    expect_part(&a, "\"outputs\":[]}");
    answer_release(&a);
    kept_holds(f, "emb", "[0.0,1.0,12.0,13.0,4.0,5.0]");

    /* A result under another name makes a tensor there, and the first one stays as it is. */
    a = kept_infer(f, "tensor_scatter_sub/infer?tensor=emb&into=other", NULL,
                   "{'inputs':{'indices':[[0]],'updates':[[1,1]]}}");
    assert_int_equal(a.status, 200);
    answer_release(&a);
    kept_holds(f, "emb", "[0.0,1.0,12.0,13.0,4.0,5.0]");
    kept_holds(f, "other", "[-1.0,0.0,12.0,13.0,4.0,5.0]");
    kept_drop(f, "emb");
    kept_drop(f, "other");
}

static void any_input_may_be_a_tensor(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "rows", "{'datatype':'INT32','shape':[3,1],'data':[2,9,0]}");
    kept_put(f, "u", "{'datatype':'INT8','shape':[3],'data':[1,2,3]}");
    struct answer a = kept_infer(f, "tensor_scatter_add/infer", NULL,
                                 "{'inputs':{'tensor':{'datatype':'INT8','data':[0,0,0]},"
                                 "'indices':{'tensor':'rows'},'updates':{'tensor':'u'}},"
                                 "'parameters':{'bad_indices_policy':'IGNORE'}}");
    expect_part(&a, "\"ignored_indices\":1");
    expect_part(&a, "\"indices_version\":1");
    expect_part(&a, "\"data\":[3,0,1]");
    answer_release(&a);
    a = kept_infer(
        f, "gather_nd/infer", NULL,
        "{'inputs':[{'name':'params','datatype':'INT8','shape':[3],'data':[7,8,9]},"
        "{'name':'indices','datatype':'INT32','shape':[3,1],"
        "'parameters':{'tensor':'rows'}}],'parameters':{'bad_indices_policy':'IGNORE'}}");
    expect_part(&a, "\"data\":[9,0,7]");
    answer_release(&a);
    /* The rows that are ignored were marked in a copy of the indices. */
    kept_holds(f, "rows", "[2,9,0]");
    kept_drop(f, "rows");
    kept_drop(f, "u");
}

/* Tuples that come in a request are flattened in place; those of a kept tensor must not be. */
static void tuples_of_a_tensor_stay_as_they_are(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "at", "{'datatype':'INT64','shape':[2,2],'data':[1,1,0,1]}");
    for (int i = 0; i < 2; i++) {
        struct answer a =
            kept_infer(f, "gather_nd/infer", NULL,
                       "{'inputs':{'params':[[1,2],[3,4]],'indices':{'tensor':'at'}}}");
        expect_part(&a, "\"data\":[4.0,2.0]");
        answer_release(&a);
        a = kept_infer(f, "scatter_nd/infer", NULL,
                       "{'inputs':{'indices':{'tensor':'at'},'updates':[5,6],'shape':[2,2]}}");
        expect_part(&a, "\"data\":[0.0,6.0,0.0,5.0]");
        answer_release(&a);
    }
    kept_holds(f, "at", "[1,1,0,1]");
    kept_drop(f, "at");
}

/* A kept tensor is the table of a gather, and the result another; kept indices stay as they are. */
static void gathers_read_tensors_and_make_others(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "emb", "{'datatype':'FP32','shape':[3,2],'data':[1,2,3,4,5,6]}");
    kept_put(f, "at", "{'datatype':'INT32','shape':[2],'data':[2,9]}");
    struct answer a = kept_infer(f, "gather/infer?tensor=emb", NULL, "{'inputs':{'indices':1}}");
    expect_part(&a, "\"shape\":[2],\"data\":[3.0,4.0]");
    expect_part(&a, "\"tensor_version\":1");
    answer_release(&a);
    a = kept_infer(f, "gather/infer?tensor=emb&into=found", NULL,
                   "{'inputs':{'indices':{'tensor':'at'}},"
                   "'parameters':{'bad_indices_policy':'IGNORE'}}");
    expect_part(&a, "\"ignored_indices\":1");
    expect_part(&a, "\"into_version\":1");
    answer_release(&a);
    kept_holds(f, "found", "[5.0,6.0,0.0,0.0]");
    kept_holds(f, "at", "[2,9]");
    kept_holds(f, "emb", "[1.0,2.0,3.0,4.0,5.0,6.0]");
    kept_drop(f, "emb");
    kept_drop(f, "at");
    kept_drop(f, "found");
}

static void segments_read_tensors_and_make_others(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "rows", "{'datatype':'FP32','shape':[3,1],'data':[1,2,4]}");
    kept_put(f, "ids", "{'datatype':'INT64','shape':[3],'data':[0,-1,0]}");
    kept_put(f, "n", "{'datatype':'INT32','shape':[1],'data':[2]}");
    static const char *const ops[][2] = {{"sum", "[5.0,0.0]"},
                                         {"prod", "[4.0,1.0]"},
                                         {"max", "[4.0,-3.4028235e+38]"},
                                         {"mean", "[2.5,0.0]"}};
    for (int i = 0; i < 4; i++) {
        char path[80];
        snprintf(path, sizeof path, "unsorted_segment_%s/infer?tensor=rows&into=made", ops[i][0]);
        struct answer a =
            kept_infer(f, path, NULL,
                       "{'inputs':{'segment_ids':{'tensor':'ids'},'num_segments':{'tensor':'n'}}}");
        assert_int_equal(a.status, 200);
        answer_release(&a);
        kept_holds(f, "made", ops[i][1]);
    }
    struct answer a =
        kept_infer(f, "segment_sum/infer?tensor=rows", NULL, "{'inputs':{'segment_ids':[0,1,1]}}");
    expect_part(&a, "\"data\":[1.0,6.0]");
    answer_release(&a);
    kept_holds(f, "ids", "[0,-1,0]");
    kept_holds(f, "rows", "[1.0,2.0,4.0]");
    kept_drop(f, "rows");
    kept_drop(f, "ids");
    kept_drop(f, "n");
    kept_drop(f, "made");
}

/* A tensor that is table, indices, updates and output at once: the result is the same as with
 * copies. */
static void one_tensor_may_be_three_inputs_and_the_output(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "a", "{'datatype':'INT64','shape':[3,1],'data':[2,0,1]}");
    struct answer a = kept_infer(f, "tensor_scatter_add/infer?tensor=a&into=a", NULL,
                                 "{'inputs':{'indices':{'tensor':'a'},'updates':{'tensor':'a'}}}");
    assert_int_equal(a.status, 200);
    expect_part(&a, "\"into_version\":2");
    answer_release(&a);
    /* a[2] += 2, a[0] += 0, a[1] += 1 */
    kept_holds(f, "a", "[2,1,3]");
    /* The output takes the place of another input, and is of another shape. */
    kept_put(f, "u", "{'datatype':'INT64','shape':[2,1],'data':[10,20]}");
    a = kept_infer(f, "tensor_scatter_add/infer?tensor=a&into=u", NULL,
                   "{'inputs':{'indices':[[0],[2]],'updates':{'tensor':'u'}}}");
    assert_int_equal(a.status, 200);
    expect_part(&a, "\"updates_version\":1,");
    expect_part(&a, "\"into_version\":1,");
    answer_release(&a);
    kept_holds(f, "u", "[12,1,23]");
    kept_holds(f, "a", "[2,1,3]");
    kept_drop(f, "u");
    kept_drop(f, "a");
}

/* All inputs and the output are tensors that are kept: each tells its version, one is written. */
static void four_tensors_are_read_and_one_is_written(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "d", "{'datatype':'FP32','shape':[3,2],'data':[0,1,2,3,4,5]}");
    kept_put(f, "i", "{'datatype':'INT32','shape':[3],'data':[2,0,2]}");
    kept_put(f, "s", "{'datatype':'INT64','shape':[3],'data':[0,0,1]}");
    kept_put(f, "n", "{'datatype':'INT32','shape':[],'data':[3]}");
    static const char body[] =
        "{'inputs':{'indices':{'tensor':'i'},'segment_ids':{'tensor':'s'},'num_segments':"
        "{'tensor':'n'}}}";
    for (int i = 0; i < 2; i++) {
        struct answer a =
            kept_infer(f, "SparseSegmentSumWithNumSegments/infer?tensor=d&into=r", NULL, body);
        assert_int_equal(a.status, 200);
        expect_part(&a, "\"tensor_version\":1,");
        expect_part(&a, "\"indices_version\":1,");
        expect_part(&a, "\"segment_ids_version\":1,");
        expect_part(&a, "\"num_segments_version\":1,");
        expect_part(&a, "\"into_version\":1,");
        answer_release(&a);
        kept_holds(f, "r", "[4.0,6.0,4.0,5.0,0.0,0.0]");
    }
    /* An operation that starts from zeros cannot write into one of its inputs. */
    struct answer a =
        kept_infer(f, "SparseSegmentSumWithNumSegments/infer?tensor=d&into=s", NULL, body);
    expect_error(&a, 400, "INVALID_PARAMETER", "cannot be both");
    answer_release(&a);
    kept_holds(f, "s", "[0,0,1]");
    static const char *const names[] = {"d", "i", "s", "n", "r"};
    for (int i = 0; i < 5; i++)
        kept_drop(f, names[i]);
}

static void tritons_regions_are_tensors(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "emb", "{'datatype':'FP32','shape':[3,2],'data':[0,1,2,3,4,5]}");
    struct answer a = kept_infer(
        f, "gather_nd/infer", NULL,
        "{'inputs':[{'name':'params','datatype':'FP32','shape':[2,2],'parameters':"
        "{'shared_memory_region':'emb','shared_memory_byte_size':16,'shared_memory_offset':8}},"
        "{'name':'indices','datatype':'INT64','shape':[1,1],'data':[1]}]}");
    expect_part(&a, "\"data\":[4.0,5.0]");
    answer_release(&a);
    a = kept_infer(f, "tensor_scatter_update/infer", NULL,
                   "{'inputs':[{'name':'tensor','datatype':'FP32','shape':[3,2],'parameters':"
                   "{'shared_memory_region':'emb','shared_memory_byte_size':24}},"
                   "{'name':'indices','datatype':'INT64','shape':[1,1],'data':[1]},"
                   "{'name':'updates','datatype':'FP32','shape':[1,2],'data':[7,8]}],"
                   "'outputs':[{'name':'output','parameters':{'shared_memory_region':'emb',"
                   "'shared_memory_byte_size':24}}]}");
    expect_part(&a, "\"outputs\":[{\"name\":\"output\",\"datatype\":\"FP32\",\"shape\":[3,2]}]}");
    answer_release(&a);
    kept_holds(f, "emb", "[0.0,1.0,7.0,8.0,4.0,5.0]");
    a = kept_call(f, "GET", "/v2/systemsharedmemory/status", NULL, NULL);
    expect_json(&a, "[{'name':'emb','key':'','offset':0,'byte_size':24}]");
    answer_release(&a);
    kept_drop(f, "emb");
}

static void rows_are_assigned_and_moves_are_one_step(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "a", "{'datatype':'INT8','shape':[3,2],'data':[1,2,3,4,5,6]}");
    struct answer a = kept_call(f, "PUT", "/v2/tensors/a/data?rows=1:3", kept_json_type,
                                "{'datatype':'INT8','data':[[7,8],[9,0]]}");
    assert_int_equal(a.status, 200);
    expect_part(&a, "\"version\":2,");
    answer_release(&a);
    kept_holds(f, "a", "[1,2,7,8,9,0]");
    kept_put(f, "a.next", "{'datatype':'INT8','shape':[1],'data':[5]}");
    a = kept_call(f, "PUT", "/v2/tensors/a?move=a.next", NULL, NULL);
    assert_int_equal(a.status, 200);
    answer_release(&a);
    kept_holds(f, "a", "[5]");
    a = kept_call(f, "GET", "/v2/tensors/a.next", NULL, NULL);
    assert_int_equal(a.status, 404);
    answer_release(&a);
    kept_drop(f, "a");
}

static void the_list_comes_in_pages(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "c", "{'datatype':'INT8','shape':[1]}");
    kept_put(f, "a", "{'datatype':'INT8','shape':[1]}");
    kept_put(f, "b", "{'datatype':'INT8','shape':[1]}");
    struct answer a = kept_call(f, "GET", "/v2/tensors?limit=2", NULL, NULL);
    expect_part(&a, "\"tensors\":[{\"name\":\"a\",");
    expect_part(&a, "},{\"name\":\"b\",");
    expect_part(&a, "\"next\":\"b\"}");
    answer_release(&a);
    a = kept_call(f, "GET", "/v2/tensors?after=b", NULL, NULL);
    expect_part(&a, "\"tensors\":[{\"name\":\"c\",");
    expect_part(&a, "],\"next\":null}");
    answer_release(&a);
    kept_drop(f, "a");
    kept_drop(f, "b");
    kept_drop(f, "c");
}

static void what_is_too_large_is_read_by_rows(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "w", "{'datatype':'FP32','shape':[40000,1]}");
    struct answer a = kept_call(f, "GET", "/v2/tensors/w/data", NULL, NULL);
    expect_error(&a, 413, "OUTPUT_TOO_LARGE", "max_output");
    answer_release(&a);
    a = kept_call(f, "GET", "/v2/tensors/w/data?rows=100:200", "Accept: application/octet-stream",
                  NULL);
    assert_int_equal(a.size, 400);
    answer_release(&a);
    kept_drop(f, "w");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tensor_is_kept_told_read_and_dropped),
        cmocka_unit_test(a_body_comes_raw_as_json_binary_or_safetensors),
        cmocka_unit_test(what_the_url_cannot_say_is_told),
        cmocka_unit_test(an_op_reads_a_tensor_and_writes_it_only_when_told_so),
        cmocka_unit_test(any_input_may_be_a_tensor),
        cmocka_unit_test(tuples_of_a_tensor_stay_as_they_are),
        cmocka_unit_test(gathers_read_tensors_and_make_others),
        cmocka_unit_test(segments_read_tensors_and_make_others),
        cmocka_unit_test(one_tensor_may_be_three_inputs_and_the_output),
        cmocka_unit_test(four_tensors_are_read_and_one_is_written),
        cmocka_unit_test(tritons_regions_are_tensors),
        cmocka_unit_test(rows_are_assigned_and_moves_are_one_step),
        cmocka_unit_test(the_list_comes_in_pages),
        cmocka_unit_test(what_is_too_large_is_read_by_rows),
    };
    return cmocka_run_group_tests(tests, start, fixture_stop);
}
