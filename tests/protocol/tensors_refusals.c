/* Mistakes about resident tensors over HTTP, each with its error, after which nothing has
 * changed. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int start(void **state)
{
    static const char *const settings[] = {"--tensor_memory=8M", "--tensors_max=6", NULL};
    return fixture_start_with(state, settings);
}

struct mistake {
    const char *method, *path, *header, *body;
    int status;
    const char *code, *part;
};

#define LONG_KEY                                                                                   \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab" \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab" \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab"
#define LONG_NAME                                                                                  \
    "a123456789abcdefa123456789abcdefa123456789abcdefa123456789abcdefa123456789abcdefa123456789ab" \
    "cdefa123456789abcdefa123456789abcdef"
#define ADD    "/v2/models/tensor_scatter_add/infer"
#define GATHER "/v2/models/gather_nd/infer"
#define UPDATE "{'inputs':{'indices':[[0]],'updates':[1,1]}}"

static const struct mistake mistakes[] = {
    {"PUT", "/v2/tensors/.a", kept_json_type, "{'data':[1]}", 400, "INVALID_PARAMETER",
     "is no tensor"},
    {"PUT", "/v2/tensors/a%41", kept_json_type, "{'data':[1]}", 400, "INVALID_PARAMETER", "escape"},
    {"PUT", "/v2/tensors/a+b", kept_json_type, "{'data':[1]}", 400, "INVALID_PARAMETER", "name"},
    {"GET", "/v2/tensors/~", NULL, NULL, 400, "INVALID_PARAMETER", "name"},
    {"PUT", "/v2/tensors/" LONG_NAME "x", NULL, "{'data':[1]}", 400, "INVALID_PARAMETER",
     "1 to 128"},
    {"PUT", "/v2/tensors/", NULL, "{'data':[1]}", 404, "NOT_FOUND", "/v2/tensors"},
    {"PUT", "/v2/tensors/a?move=.b", NULL, NULL, 400, "INVALID_PARAMETER", "beginning with a dot"},
    {"PUT", "/v2/tensors/a?move=%62", NULL, NULL, 400, "INVALID_PARAMETER", "escape"},
    {"PUT", "/v2/tensors/a?move=", NULL, NULL, 400, "INVALID_PARAMETER", "1 to 128"},
    {"PUT", "/v2/tensors/a?datatype=BYTES&shape=1", NULL, "1234", 400, "UNSUPPORTED_DTYPE",
     "BYTES"},
    {"PUT", "/v2/tensors/a?datatype=FP32&shape=99999999999999999999", NULL, "1234", 400,
     "INVALID_PARAMETER", "shape"},
    {"PUT", "/v2/tensors/a?datatype=FP32&shape=1,,1", NULL, "1234", 400, "INVALID_PARAMETER",
     "shape"},
    {"PUT", "/v2/tensors/a?datatype=FP32&shape=9223372036854775807,9223372036854775807", NULL,
     "1234", 400, "INVALID_PARAMETER", "2^53 - 1"},
    {"PUT", "/v2/tensors/a", NULL,
     "{'datatype':'INT8','shape':[9007199254740991,9007199254740991]}", 400, "SIZE_MISMATCH",
     "64 bits"},
    {"PUT", "/v2/tensors/a", NULL, "{'datatype':'INT8','shape':[9007199254740991,1023]}", 507,
     "TENSOR_MEMORY_FULL", "tensor_memory"},
    {"PUT", "/v2/tensors/a", NULL, "{'datatype':'INT64','shape':[9007199254740991,255]}", 507,
     "TENSOR_MEMORY_FULL", "tensor_memory"},
    {"PUT", "/v2/tensors/a/data", NULL,
     "{'datatype':'FP32','shape':[9007199254740991,9007199254740991]}", 400, "SIZE_MISMATCH",
     "64 bits"},
    {"PUT", "/v2/tensors/a", NULL, "{'datatype':'INT8','shape':[-1]}", 400, "INVALID_FIELD",
     "shape"},
    {"PUT", "/v2/tensors/a", NULL, "{'tensor':'a'}", 400, "INVALID_FIELD", "reference"},
    {"PUT", "/v2/tensors/a?ttl=", NULL, "{'data':[1]}", 400, "INVALID_PARAMETER", "ttl"},
    {"PUT", "/v2/tensors/a?ttl=long", NULL, "{'data':[1]}", 400, "INVALID_PARAMETER", "ttl"},
    {"PATCH", "/v2/tensors/a", NULL, "{'ttl':'-1s'}", 400, "INVALID_PARAMETER", "ttl"},
    {"PATCH", "/v2/tensors/a", NULL, "{'ttl':'100000h'}", 400, "INVALID_PARAMETER",
     "tensor_ttl_max"},
    {"PATCH", "/v2/tensors/a", NULL, "{}", 400, "INVALID_FIELD", "ttl"},
    {"PATCH", "/v2/tensors/a", NULL, "{'ttl':", 400, "INVALID_JSON", ""},
    {"PATCH", "/v2/tensors/a", NULL, NULL, 400, "INVALID_JSON", ""},
    {"GET", "/v2/tensors/a/data?rows=", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", "a:b"},
    {"GET", "/v2/tensors/a/data?rows=2:1", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", "a < b"},
    {"GET", "/v2/tensors/a/data?rows=0:1:2", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", "a:b"},
    {"GET", "/v2/tensors/a/data?rows=%200:1", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", "a:b"},
    {"GET", "/v2/tensors/a/data?rows=0x0:1", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", "a:b"},
    {"GET", "/v2/tensors/a/data?rows=3:4", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", "3 rows"},
    {"GET", "/v2/tensors/a/data?rows=0:1&rows=0:1", NULL, NULL, 400, "INVALID_PARAMETER",
     "more than once"},
    {"PUT", "/v2/tensors/a/data?rows=2:4", NULL, "{'data':[[1,1],[2,2]]}", 400, "ROWS_OUT_OF_RANGE",
     "3 rows"},
    {"PUT", "/v2/tensors/a/data?rows=1:1", NULL, "{'datatype':'FP32','shape':[0,2]}", 400,
     "ROWS_OUT_OF_RANGE", "a < b"},
    {"PUT", "/v2/tensors/a/data?rows=0:1", NULL, "{'data':[1,1]}", 400, "SHAPE_MISMATCH", "[2]"},
    {"PUT", "/v2/tensors/a/data?rows=0:1", NULL, "{'data':[[1,1]]", 400, "INVALID_JSON", ""},
    {"PUT", "/v2/tensors/nothing/data", NULL, "{'data':[1]}", 404, "TENSOR_NOT_FOUND", "nothing"},
    {"DELETE", "/v2/tensors/a", "If-Match: \"5", NULL, 400, "INVALID_HEADER", "If-Match"},
    {"DELETE", "/v2/tensors/a", "If-Match: 5\"", NULL, 400, "INVALID_HEADER", "If-Match"},
    {"DELETE", "/v2/tensors/a", "If-Match: W/", NULL, 400, "INVALID_HEADER", "If-Match"},
    {"DELETE", "/v2/tensors/a", "If-Match: *, \"5\"", NULL, 400, "INVALID_HEADER", "If-Match"},
    {"DELETE", "/v2/tensors/a", "If-Match: \"5\" \"6\"", NULL, 400, "INVALID_HEADER", "If-Match"},
    {"DELETE", "/v2/tensors/a", "If-Match;", NULL, 400, "INVALID_HEADER", "If-Match"},
    {"GET", "/v2/tensors/a/data", "If-None-Match: 5", NULL, 400, "INVALID_HEADER", "If-None-Match"},
    {"POST", GATHER "?tensor=a", "If-None-Match: ?", "{'inputs':{'indices':[[0]]}}", 400,
     "INVALID_HEADER", "If-None-Match"},
    {"POST", ADD "?tensor=a&into=a", "Update-Position: x", UPDATE, 400, "INVALID_HEADER",
     "together"},
    {"POST", GATHER "?tensor=a&tensor=a", NULL, "{'inputs':{'indices':[[0]]}}", 400,
     "INVALID_PARAMETER", "more than once"},
    {"POST", GATHER, NULL, "{'inputs':{'params':[1],'indices':{'tensor':'nothing'}}}", 404,
     "TENSOR_NOT_FOUND", "nothing"},
    {"POST", GATHER, NULL, "{'inputs':{'params':[1],'indices':{'tensor':'..'}}}", 400,
     "INVALID_PARAMETER", "name"},
    {"POST", GATHER "?into=" LONG_NAME "x&tensor=a", NULL, "{'inputs':{'indices':[[0]]}}", 400,
     "INVALID_PARAMETER", "1 to 128"},
    {"POST", GATHER "?into=b%20&tensor=a", NULL, "{'inputs':{'indices':[[0]]}}", 400,
     "INVALID_PARAMETER", "escape"},
    {"POST", GATHER, NULL, "{'inputs':{'params':[1],'indices':{'tensor':'a'}}}", 400,
     "UNSUPPORTED_DTYPE", "FP32"},
    {"POST", "/v2/models/sparse_segment_sum/infer?tensor=a&into=a", NULL,
     "{'inputs':{'indices':[0],'segment_ids':[0]}}", 400, "INVALID_PARAMETER", "cannot be both"},
    {"POST", "/v2/models/gather/infer?tensor=a&into=a", NULL, "{'inputs':{'indices':[0]}}", 400,
     "INVALID_PARAMETER", "which gather reads as params: it cannot be both"},
    {"POST", "/v2/models/UnsortedSegmentSum/infer?into=a", NULL,
     "{'inputs':{'data':[1,2],'segment_ids':{'tensor':'a'},'num_segments':2}}", 400,
     "INVALID_PARAMETER", "which UnsortedSegmentSum reads as segment_ids: it cannot be both"},
    {"POST", "/v2/models/scatter_nd/infer?into=a", NULL,
     "{'inputs':{'indices':[[0]],'updates':{'tensor':'a'},'shape':[3]}}", 400, "INVALID_PARAMETER",
     "cannot be both"},
    {"POST", ADD "?tensor=a&into=a", NULL,
     "{'inputs':{'indices':[[0]],'updates':[[1,1]]},'outputs':[{'name':'output'},"
     "{'name':'output'}]}",
     400, "INVALID_FIELD", "outputs"},
    {"POST", ADD "?tensor=a", NULL,
     "{'inputs':{'indices':[[0]],'updates':[[1,1]]},'outputs':[{'name':'output','parameters':"
     "{'shared_memory_region':'a','shared_memory_byte_size':24}},{'name':'output','parameters':"
     "{'shared_memory_region':'b','shared_memory_byte_size':24}}]}",
     400, "INVALID_PARAMETER", ""},
    {"POST", ADD "?tensor=a&into=b", NULL,
     "{'inputs':{'indices':[[0]],'updates':[[1,1]]},'outputs':[{'name':'output','parameters':"
     "{'shared_memory_region':'a','shared_memory_byte_size':24}}]}",
     400, "INVALID_PARAMETER", ""},
    {"POST", ADD "?tensor=a", NULL,
     "{'inputs':{'indices':[[0]],'updates':[[1,1]]},'outputs':[{'name':'output','parameters':"
     "{'shared_memory_region':'a','shared_memory_byte_size':8}}]}",
     400, "SIZE_MISMATCH", "region"},
    {"POST", "/v2/models/gather_nd/infer?into=b", NULL,
     "{'inputs':{'params':{'datatype':'BYTES','data':['x']},'indices':[[0]]}}", 400,
     "UNSUPPORTED_DTYPE", "BYTES"},
    {"GET", "/v2/tensors/nothing", NULL, NULL, 404, "TENSOR_NOT_FOUND", "nothing"},
    {"GET", "/v2/tensors/nothing/data", NULL, NULL, 404, "TENSOR_NOT_FOUND", "nothing"},
    {"DELETE", "/v2/tensors/nothing", NULL, NULL, 404, "TENSOR_NOT_FOUND", ""},
    {"PATCH", "/v2/tensors/nothing", kept_json_type, "{'ttl':'1h'}", 404, "TENSOR_NOT_FOUND", ""},
    {"PUT", "/v2/tensors/a?move=nothing", NULL, NULL, 404, "TENSOR_NOT_FOUND", "nothing"},
    {"PUT", "/v2/tensors/a?move=a", NULL, NULL, 400, "INVALID_PARAMETER", "itself"},
    {"PUT", "/v2/tensors/a?move=b", kept_json_type, "{}", 400, "INVALID_FIELD", "no body"},
    {"DELETE", "/v2/tensors/a", kept_json_type, "{}", 400, "INVALID_FIELD", "no body"},
    {"PUT", "/v2/tensors/a", kept_json_type, "{'datatype':'BYTES','shape':[1],'data':['x']}", 400,
     "UNSUPPORTED_DTYPE", "BYTES"},
    {"PUT", "/v2/tensors/a", kept_json_type, "{'datatype':'FP32'}", 400, "INVALID_FIELD", "zeros"},
    {"PUT", "/v2/tensors/a", kept_json_type, "{'datatype':'FP32','shape':[3],'data':[1]}", 400,
     "SIZE_MISMATCH", ""},
    {"PUT", "/v2/tensors/a", kept_json_type, "[1]", 400, "INVALID_FIELD", ""},
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
    {"PUT", "/v2/tensors/a?ttl=0", kept_json_type, "{'data':[1]}", 400, "INVALID_PARAMETER", "ttl"},
    {"PUT", "/v2/tensors/a?ttl=-1s", kept_json_type, "{'data':[1]}", 400, "INVALID_PARAMETER",
     "ttl"},
    {"PUT", "/v2/tensors/a?ttl=100000h", kept_json_type, "{'data':[1]}", 400, "INVALID_PARAMETER",
     "tensor_ttl_max"},
    {"PATCH", "/v2/tensors/a", kept_json_type, "{'ttl':5}", 400, "INVALID_FIELD", "ttl"},
    {"PATCH", "/v2/tensors/a", kept_json_type, "{'shape':[1]}", 400, "INVALID_FIELD", "ttl"},
    {"PATCH", "/v2/tensors/a", kept_json_type, "{'ttl':'0s'}", 400, "INVALID_PARAMETER", "ttl"},
    {"GET", "/v2/tensors/a/data?rows=0:4", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", "3 rows"},
    {"GET", "/v2/tensors/a/data?rows=1:1", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", "a < b"},
    {"GET", "/v2/tensors/a/data?rows=-1:1", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", ""},
    {"GET", "/v2/tensors/a/data?rows=1", NULL, NULL, 400, "ROWS_OUT_OF_RANGE", ""},
    {"GET", "/v2/tensors/a/data?rows=0:99999999999999999999", NULL, NULL, 400, "ROWS_OUT_OF_RANGE",
     ""},
    {"PUT", "/v2/tensors/a/data?rows=0:2", kept_json_type, "{'data':[[1,1]]}", 400,
     "SHAPE_MISMATCH", "[1, 2]"},
    {"PUT", "/v2/tensors/a/data?rows=0:1", kept_json_type, "{'datatype':'INT8','data':[[1,1]]}",
     400, "UNSUPPORTED_DTYPE", "INT8"},
    {"GET", "/v2/tensors?limit=0", NULL, NULL, 400, "INVALID_PARAMETER", "limit"},
    {"GET", "/v2/tensors?limit=1001", NULL, NULL, 400, "INVALID_PARAMETER", "limit"},
    {"GET", "/v2/tensors?after=.", NULL, NULL, 400, "INVALID_PARAMETER", "after"},
    {"POST", "/v2/tensors/a/snapshot", NULL, NULL, 501, "NOT_SUPPORTED", "memory only"},
    {"POST", "/v2/tensors/a", kept_json_type, "{}", 405, "METHOD_NOT_ALLOWED", "PUT"},
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
    {"POST", "/v2/systemsharedmemory/region/a/register", kept_json_type, "{}", 501, "NOT_SUPPORTED",
     ""},
};

static void every_mistake_has_its_error_and_changes_nothing(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "a", "{'datatype':'FP32','shape':[3,2],'data':[1,2,3,4,5,6]}");
    struct answer before = kept_call(f, "GET", "/v2/tensors/a", NULL, NULL);
    int wrong = 0;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        struct answer a = kept_call(f, m->method, m->path, m->header, m->body);
        const char *code = answer_header(&a, "Error-Code");
        if (a.status != m->status || !strstr(a.body, m->part) || !code || strcmp(code, m->code)) {
            wrong++;
            print_error("%s %s %s %s: %d %s\n", m->method, m->path, m->header ? m->header : "",
                        m->body ? m->body : "", a.status, a.body);
        } else {
            expect_error(&a, m->status, m->code, m->part);
        }
        answer_release(&a);
    }
    assert_int_equal(wrong, 0);
    struct answer after = kept_call(f, "GET", "/v2/tensors/a", NULL, NULL);
    expect_header(&after, "ETag", answer_header(&before, "ETag"));
    answer_release(&before);
    answer_release(&after);
    kept_holds(f, "a", "[1.0,2.0,3.0,4.0,5.0,6.0]");
    struct answer list = kept_call(f, "GET", "/v2/tensors", NULL, NULL);
    assert_null(strstr(list.body, "},{"));
    answer_release(&list);
    kept_drop(f, "a");
}

static void a_file_has_exactly_one_tensor(void **state)
{
    struct fixture *f = *state;
    static const char *const headers[] = {
        "{}", "{\"__metadata__\":{\"a\":\"b\"}}",
        ("{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
         "\"y\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}")};
    for (size_t i = 0; i < 3; i++) {
        char file[256] = {0};
        uint64_t length = strlen(headers[i]);
        memcpy(file, &length, 8);
        memcpy(file + 8, headers[i], length);
        struct answer a = fixture_call(f, &(struct call){.method = "PUT",
                                                         .path = "/v2/tensors/f",
                                                         .headers = {"Content-Type:"},
                                                         .body = file,
                                                         .size = 8 + length + (i == 2 ? 2 : 0)});
        expect_error(&a, 400, "INVALID_FIELD", "expected one");
        answer_release(&a);
    }
}

/* A tensor of a file may be called what members of a JSON request are called. */
static void a_file_names_its_tensor_as_it_likes(void **state)
{
    static const char *const names[] = {"inputs", "data", "__meta", "outputs"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[128] = {0};
        int size =
            snprintf(file + 8, sizeof file - 8,
                     "{\"%s\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", names[i]);
        uint64_t length = (uint64_t)size;
        memcpy(file, &length, 8);
        memcpy(file + 8 + length, "\1\2", 2);
        struct answer a = fixture_call(*state, &(struct call){.method = "PUT",
                                                              .path = "/v2/tensors/named",
                                                              .headers = {"Content-Type:"},
                                                              .body = file,
                                                              .size = 10 + length});
        if (a.status != (i == 0 ? 201 : 200))
            fail_msg("%s: %s", names[i], a.body);
        answer_release(&a);
    }
    kept_drop(*state, "named");
}

static void a_full_store_says_so_before_the_upload(void **state)
{
    struct fixture *f = *state;
    char *zeros = calloc(1, 16 << 20);
    struct answer a =
        fixture_call(f, &(struct call){.method = "PUT",
                                       .path = "/v2/tensors/big?datatype=INT8&shape=9000000",
                                       .body = zeros,
                                       .size = 9000000});
    expect_error(&a, 507, "TENSOR_MEMORY_FULL", "tensor_memory");
    answer_release(&a);
    a = kept_call(f, "PUT", "/v2/tensors/big", kept_json_type,
                  "{'datatype':'INT8','shape':[9000000]}");
    expect_error(&a, 507, "TENSOR_MEMORY_FULL", "nothing is dropped to make room");
    answer_release(&a);
    a = fixture_call(f, &(struct call){.method = "PUT",
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
            kept_put(f, name, "{'datatype':'INT8','shape':[1]}");
    }
    a = kept_call(f, "PUT", "/v2/tensors/n6", kept_json_type, "{'datatype':'INT8','shape':[1]}");
    expect_error(&a, 507, "TENSOR_MEMORY_FULL", "tensors_max");
    answer_release(&a);
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        kept_drop(f, name);
    }
    free(zeros);
}

/* Keys of 255 bytes and of 256, quoted and not, and two in one request. */
static void a_key_has_its_length(void **state)
{
    struct fixture *f = *state;
    char key[300], header[400];
    memset(key, 'k', sizeof key);
    for (int quoted = 0; quoted < 2; quoted++)
        for (int size = 255; size <= 256; size++) {
            snprintf(header, sizeof header,
                     quoted ? "Idempotency-Key: \"%.*s\"" : "Idempotency-Key: %.*s", size, key);
            struct answer a = kept_call(f, "PUT", "/v2/tensors/k", header, "{'data':[1]}");
            if (size == 256)
                expect_error(&a, 400, "INVALID_HEADER", "255");
            else
                assert_int_equal(a.status, 201); /* quoted, it is the same key */
            answer_release(&a);
        }
    struct answer a =
        fixture_call(f, &(struct call){.method = "DELETE",
                                       .path = "/v2/tensors/k",
                                       .headers = {"Idempotency-Key: a", "Idempotency-Key: a"}});
    expect_error(&a, 400, "INVALID_HEADER", "Idempotency-Key came 2 times");
    answer_release(&a);
    kept_drop(f, "k");
}

/* Neither a scalar nor a table of zero rows has a row 0. */
static void what_has_no_rows_has_none(void **state)
{
    struct fixture *f = *state;
    kept_put(f, "s", "{'datatype':'INT8','shape':[],'data':[7]}");
    kept_put(f, "e", "{'datatype':'INT8','shape':[0,2]}");
    static const char *const paths[] = {"/v2/tensors/s/data?rows=0:1",
                                        "/v2/tensors/e/data?rows=0:1"};
    for (int i = 0; i < 2; i++) {
        struct answer a = kept_call(f, "GET", paths[i], NULL, NULL);
        expect_error(&a, 400, "ROWS_OUT_OF_RANGE", "0 rows");
        answer_release(&a);
    }
    kept_holds(f, "s", "[7]");
    kept_holds(f, "e", "[]");
    kept_expect(f, 200, "PUT", "/v2/tensors/s/data", NULL,
                "{'datatype':'INT8','shape':[],'data':[8]}");
    kept_holds(f, "s", "[8]");
    kept_drop(f, "s");
    kept_drop(f, "e");
}

/* The answer to a write that was applied is given again, though there would be no room for its
 * tensor a second time; a write that was not applied is refused. */
static void a_full_store_replays_what_fills_it(void **state)
{
    enum { BYTES = 5000000 };
    static const char *const headers[] = {"Idempotency-Key: fills", "Update-Source: log"};
    struct fixture *f = *state;
    char *zeros = calloc(1, BYTES);
    assert_non_null(zeros);
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < 3; i++) {
            const char *header = kind == 0 && i == 2 ? "Idempotency-Key: other" : headers[kind];
            const char *position = kind == 0 ? "A: b"
                                   : i < 2   ? "Update-Position: 7"
                                             : "Update-Position: 8";
            struct answer a = fixture_call(
                f, &(struct call){.method = "PUT",
                                  .path = "/v2/tensors/big?datatype=INT8&shape=5000000",
                                  .headers = {header, position},
                                  .body = zeros,
                                  .size = BYTES});
            if (i == 2)
                expect_error(&a, 507, "TENSOR_MEMORY_FULL", "nothing is dropped to make room");
            else if (a.status >= 300)
                fail_msg("%s: %d %s", header, a.status, a.body);
            else
                expect_header(&a, "Idempotent-Replayed", i == 1 ? "true" : NULL);
            answer_release(&a);
            if (i == 2)
                kept_drop(f, "big");
        }
    free(zeros);
}

static struct raw begin_upload(struct fixture *f, const char *name, int bytes, const char *framing)
{
    struct raw r = fixture_raw(f);
    assert_true(raw_printf(&r,
                           "PUT /v2/tensors/%s?datatype=INT8&shape=%d HTTP/1.1\r\n"
                           "Host: localhost\r\n%s\r\n\r\n",
                           name, bytes, framing));
    return r;
}

static bool send_chunk(struct raw *r, const char *bytes, size_t size)
{
    return raw_printf(r, "%zx\r\n", size) && raw_send(r, bytes, size) && raw_puts(r, "\r\n");
}

/* An upload that announced its size has its place; one that did not is refused at its end. Neither
 * changes what was stored. */
static void a_store_that_fills_while_uploads_run(void **state)
{
    enum { SIZED = 2000000, CHUNKED = 3000000, PART = 1000000 };
    struct fixture *f = *state;
    struct answer a;
    char *zeros = calloc(1, CHUNKED);
    assert_non_null(zeros);
    struct raw sized = begin_upload(f, "sized", SIZED, "Content-Length: 2000000");
    struct raw chunked = begin_upload(f, "chunked", CHUNKED, "Transfer-Encoding: chunked");
    assert_true(raw_send(&sized, zeros, PART) && send_chunk(&chunked, zeros, PART));
    while (gauge(f, "tensord_tensor_memory_used_bytes") < SIZED)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    kept_put(f, "a", "{'datatype':'INT8','shape':[4000000]}");
    kept_expect(f, 507, "PUT", "/v2/tensors/b", NULL, "{'datatype':'INT8','shape':[4000000]}");
    assert_true(send_chunk(&chunked, zeros, CHUNKED - PART) && raw_puts(&chunked, "0\r\n\r\n"));
    assert_true(raw_read(&chunked, &a, false));
    expect_error(&a, 507, "TENSOR_MEMORY_FULL", "nothing is dropped to make room");
    answer_release(&a);
    assert_true(raw_send(&sized, zeros, SIZED - PART));
    assert_true(raw_read(&sized, &a, false));
    assert_int_equal(a.status, 201);
    answer_release(&a);
    kept_expect(f, 404, "GET", "/v2/tensors/chunked", NULL, NULL);
    kept_expect(f, 404, "GET", "/v2/tensors/b", NULL, NULL);
    kept_expect(f, 200, "GET", "/v2/tensors/a/data?rows=0:9", NULL, NULL);
    kept_drop(f, "a");
    kept_drop(f, "sized");
    raw_close(&sized);
    raw_close(&chunked);
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_has_its_error_and_changes_nothing),
        cmocka_unit_test(a_file_has_exactly_one_tensor),
        cmocka_unit_test(a_file_names_its_tensor_as_it_likes),
        cmocka_unit_test(a_key_has_its_length),
        cmocka_unit_test(what_has_no_rows_has_none),
        cmocka_unit_test(a_full_store_says_so_before_the_upload),
        cmocka_unit_test(a_full_store_replays_what_fills_it),
        cmocka_unit_test(a_store_that_fills_while_uploads_run),
    };
    return cmocka_run_group_tests(tests, start, fixture_stop);
}
