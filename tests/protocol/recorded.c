/* What real clients put on the wire, byte for byte, where it differs from the plain form: each is
 * answered so that the client can read it. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* tensor [1,2,3,4], indices [[1],[3]], updates [10,20] as they travel. */
static const char tensors[] = "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40"
                              "\x01\x00\x00\x00\x03\x00\x00\x00"
                              "\x00\x00\x20\x41\x00\x00\xa0\x41";
static const char result[] = "\x00\x00\x80\x3f\x00\x00\x40\x41\x00\x00\x40\x40\x00\x00\xc0\x41";

enum { TENSORS = sizeof(tensors) - 1, RESULT = sizeof(result) - 1 };

#define PATH "/v2/models/tensor_scatter_nd_add/infer"
#define HEAD "{'model_name':'tensor_scatter_nd_add','model_version':'1',"
#define OUT_BINARY                                                                                 \
    "'outputs':[{'name':'output','datatype':'FP32','shape':[4],"                                   \
    "'parameters':{'binary_data_size':16}}]}"
#define OUT_JSON                                                                                   \
    "'outputs':[{'name':'output','datatype':'FP32','shape':[4],'data':[1.0,12.0,3.0,24.0]}]}"

/* Sends the headers as given, then JSON and, where it is said, the tensors. */
static struct answer send_recorded(void **state, const char *headers, const char *json,
                                   size_t tensors_bytes)
{
    char *text = quote(json), *message;
    size_t length = strlen(text);
    int head = asprintf(&message, headers, length, length + tensors_bytes);
    struct raw r = fixture_raw(*state);
    struct answer a;

    assert_true(head > 0);
    assert_true(raw_send(&r, message, (size_t)head));
    assert_true(raw_send(&r, text, length));
    assert_true(raw_send(&r, tensors, tensors_bytes));
    assert_true(raw_read(&r, &a, false));
    raw_close(&r);
    free(message);
    free(text);
    return a;
}

static void tritonclient_in_python(void **state)
{
    struct answer a = send_recorded(
        state,
        "POST " PATH " HTTP/1.1\r\nuser-agent: python/gevent-http-client-2.3.4\r\n"
        "inference-header-content-length: %zu\r\nhost: localhost:8000\r\n"
        "content-length: %zu\r\n\r\n",
        "{'inputs':[{'name':'tensor','shape':[4],'datatype':'FP32','parameters':{'binary_data_size'"
        ":16}},{'name':'indices','shape':[2,1],'datatype':'INT32','parameters':{'binary_data_size'"
        ":8}},{'name':'updates','shape':[2],'datatype':'FP32','parameters':{'binary_data_size':8}}]"
        ",'parameters':{'binary_data_output':true}}",
        TENSORS);

    expect_binary(&a, HEAD OUT_BINARY, result, RESULT);
    answer_release(&a);
}

/* libcurl with "id":"" always, and a header length even when all inputs are JSON. */
static void triton_in_cpp(void **state)
{
    static const char headers[] =
        "POST " PATH " HTTP/1.1\r\nHost: localhost:8000\r\nUser-Agent: libcurl-agent/1.0\r\n"
        "Accept: */*\r\nInference-Header-Content-Length: %zu\r\n"
        "Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n\r\n";
    struct answer a = send_recorded(
        state, headers,
        "{'id':'','parameters':{'binary_data_output':true},'inputs':[{'name':'tensor','datatype':"
        "'FP32','shape':[4],'parameters':{'binary_data_size':16}},{'name':'indices','datatype':"
        "'INT32','shape':[2,1],'parameters':{'binary_data_size':8}},{'name':'updates','datatype':"
        "'FP32','shape':[2],'parameters':{'binary_data_size':8}}]}",
        TENSORS);

    expect_binary(&a, HEAD OUT_BINARY, result, RESULT);
    answer_release(&a);
    a = send_recorded(
        state, headers,
        "{'id':'','inputs':[{'name':'tensor','datatype':'FP32','shape':[4],'data':[1,2,3,4]},"
        "{'name':'indices','datatype':'INT32','shape':[2,1],'data':[1,3]},"
        "{'name':'updates','datatype':'FP32','shape':[2],'data':[10,20]}],"
        "'outputs':[{'name':'output','parameters':{'binary_data':false}}]}",
        0);
    expect_json(&a, HEAD OUT_JSON);
    answer_release(&a);
}

/* encoding/json sorts the keys: `data` comes before `datatype` and `shape`. */
static void go_sorts_its_keys(void **state)
{
    struct answer a = send_recorded(
        state,
        "POST " PATH " HTTP/1.1\r\nHost: localhost:8000\r\nUser-Agent: Go-http-client/1.1\r\n"
        "X-Json: %zu\r\nContent-Length: %zu\r\nContent-Type: application/json\r\n"
        "Accept-Encoding: gzip\r\n\r\n",
        "{'id':'','inputs':[{'data':[1,2,3,4],'datatype':'FP32','name':'tensor','parameters':null,"
        "'shape':[4]},{'data':[1,3],'datatype':'INT32','name':'indices','shape':[2,1]},"
        "{'data':[10,20],'datatype':'FP32','name':'updates','shape':[2]}]}",
        0);

    expect_json(&a, HEAD OUT_JSON);
    expect_header(&a, "Content-Encoding", NULL);
    answer_release(&a);
}

/* orjson, no content type; an empty tensor has a size of 0 AND `data` null. */
static void kserve_in_python(void **state)
{
    struct answer a = send_recorded(
        state,
        "POST " PATH " HTTP/1.1\r\nHost: localhost:8080\r\nAccept: */*\r\n"
        "Accept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n"
        "User-Agent: python-httpx/0.27.2\r\nX-Json: %zu\r\nContent-Length: %zu\r\n\r\n",
        "{'id':'7b0a3f5e-4d8c-4f61-9d55-5d1c0f0f8a11','model_name':'tensor_scatter_nd_add',"
        "'inputs':[{'name':'tensor','shape':[4],'datatype':'FP32','data':[1.0,2.0,3.0,4.0]},"
        "{'name':'indices','shape':[2,1],'datatype':'INT32','data':[[1],[3]]},"
        "{'name':'updates','shape':[2],'datatype':'FP32','data':[10.0,20.0]}]}",
        0);

    expect_json(&a, HEAD "'id':'7b0a3f5e-4d8c-4f61-9d55-5d1c0f0f8a11'," OUT_JSON);
    answer_release(&a);
    a = send_recorded(
        state,
        "POST " PATH " HTTP/1.1\r\nHost: localhost:8080\r\nAccept: */*\r\n"
        "Accept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n"
        "inference-header-content-length: %zu\r\ncontent-type: application/octet-stream\r\n"
        "Content-Length: %zu\r\n\r\n",
        "{'id':'1','model_name':'tensor_scatter_nd_add','inputs':["
        "{'name':'tensor','shape':[4],'datatype':'FP32','data':[1,2,3,4]},"
        "{'name':'indices','shape':[0,1],'datatype':'INT32','parameters':{'binary_data_size':0},"
        "'data':null},"
        "{'name':'updates','shape':[0],'datatype':'FP32','parameters':{'binary_data_size':0},"
        "'data':null}],'parameters':{'binary_data_output':true}}",
        0);
    expect_binary(&a, HEAD "'id':'1'," OUT_BINARY,
                  "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40", RESULT);
    answer_release(&a);
}

/* orjson writes NaN as null: it is refused with the reason, since null may as well be Infinity. */
static void kserve_sends_nan_as_null(void **state)
{
    struct answer a =
        fixture_json(*state, "tensor_scatter_nd_add",
                     "{'inputs':[{'name':'tensor','shape':[2],'datatype':'FP32','data':[1.0,null]},"
                     "{'name':'indices','shape':[1,1],'datatype':'INT32','data':[0]},"
                     "{'name':'updates','shape':[1],'datatype':'FP32','data':[1.0]}]}");

    expect_error(&a, 400, "INVALID_FIELD", "null");
    answer_release(&a);
}

/* Custom parameters everywhere, unknown members at every level. */
static void mlserver_codecs_and_other_unknown_keys(void **state)
{
    struct answer a = fixture_json(
        *state, "tensor_scatter_nd_add",
        "{'model_name':'x','model_version':'9','extra':{'deep':[1,{'deeper':null}]},"
        "'parameters':{'content_type':'np','triton_custom':1.5,'priority':2,'sequence_id':'s',"
        "'sequence_start':true,'sequence_end':true},"
        "'inputs':[{'name':'tensor','shape':[4],'datatype':'FP32','parameters':"
        "{'content_type':'np'},'data':[1,2,3,4],'extra':0},"
        "{'name':'indices','shape':[2,1],'datatype':'INT64','data':[1,3]},"
        "{'name':'updates','shape':[2],'datatype':'FP32','data':[10,20]}],"
        "'outputs':[{'name':'output','parameters':{'content_type':'np'},'extra':0}]}");

    expect_json(&a, HEAD OUT_JSON);
    answer_release(&a);
}

/* curl -d sends a form's content type, and older ones Expect for every body. */
static void curl_with_a_form_type_and_expect(void **state)
{
    static const char json[] =
        "{\"inputs\":{\"tensor\":[1,2,3,4],\"indices\":[[1],[3]],\"updates\":[10,20]}}";
    struct raw r = fixture_raw(*state);
    struct answer a;

    assert_true(raw_printf(&r,
                           "POST " PATH " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/7.29.0"
                           "\r\nAccept: */*\r\nContent-Length: %zu\r\n"
                           "Content-Type: application/x-www-form-urlencoded\r\n"
                           "Expect: 100-continue\r\n\r\n",
                           sizeof(json) - 1));
    assert_true(raw_read(&r, &a, false));
    assert_int_equal(a.status, 100);
    answer_release(&a);
    assert_true(raw_puts(&r, json));
    assert_true(raw_read(&r, &a, false));
    expect_json(&a, HEAD OUT_JSON);
    answer_release(&a);
    raw_close(&r);
}

/* A health answer in one segment with its head keeps the pooled connection of tritonclient. */
static void a_probe_reads_head_and_body_at_once(void **state)
{
    struct raw r = fixture_raw(*state);
    char bytes[4096];

    for (int i = 0; i < 3; i++) {
        ssize_t got;

        assert_true(raw_puts(&r, "GET /v2/health/live HTTP/1.1\r\n"
                                 "user-agent: python/gevent-http-client-2.3.4\r\n"
                                 "host: localhost:8000\r\n\r\n"));
        got = recv(r.fd, bytes, sizeof(bytes) - 1, 0);
        assert_true(got > 0);
        bytes[got] = '\0';
        assert_non_null(strstr(bytes, "\r\n\r\n{\"live\":true}"));
    }
    raw_close(&r);
}

/* What perf_analyzer asks before, while and after it measures, as its documentation lists it. */
static void the_sequence_of_perf_analyzer(void **state)
{
    static const struct {
        const char *method, *path, *part;
    } rows[] = {
        {NULL, "/v2/health/live", "true"},
        {NULL, "/v2", "'extensions':["},
        {NULL, "/v2/models/tensor_scatter_add", "'inputs':["},
        {NULL, "/v2/models/tensor_scatter_add/config", "'max_batch_size':0"},
        {NULL, "/v2/models/tensor_scatter_add/stats", "'inference_count':"},
        {"POST", "/v2/systemsharedmemory/unregister", "{}"},
        {"POST", "/v2/cudasharedmemory/unregister", "{}"},
        {NULL, "/v2/models/stats", "'cache_miss':{'count':"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer a =
            fixture_call(*state, &(struct call){.method = rows[i].method, .path = rows[i].path});

        assert_int_equal(a.status, 200);
        expect_part(&a, rows[i].part);
        answer_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tritonclient_in_python),
        cmocka_unit_test(triton_in_cpp),
        cmocka_unit_test(go_sorts_its_keys),
        cmocka_unit_test(kserve_in_python),
        cmocka_unit_test(kserve_sends_nan_as_null),
        cmocka_unit_test(mlserver_codecs_and_other_unknown_keys),
        cmocka_unit_test(curl_with_a_form_type_and_expect),
        cmocka_unit_test(a_probe_reads_head_and_body_at_once),
        cmocka_unit_test(the_sequence_of_perf_analyzer),
    };

    return cmocka_run_group_tests_name("recorded", tests, fixture_start, fixture_stop);
}
