/* The examples of the libraries' own documents, in each form that a request can have. */
#include "tests/support/http/fixture.h"

#include <stdio.h>

enum { PARTS_MAX = 3, VALUES_MAX = 9 };

struct example {
    const char *op;
    const char *json;  /* protocol v2 in full */
    const char *brief; /* as one types it with curl */
    struct part parts[PARTS_MAX];
    const char *shape, *data; /* of the output, as JSON */
    float values[VALUES_MAX]; /* of the output */
    size_t size_bytes;
};

#define BYTES_OF(...) (__VA_ARGS__), sizeof(__VA_ARGS__)

static const struct example examples[] = {
    {
        .op = "TensorScatterSub",
        .json = "{'inputs':[{'name':'input_x','datatype':'FP32','shape':[2,3],"
                "'data':[-0.1,0.3,3.6,0.4,0.5,-3.2]},"
                "{'name':'indices','datatype':'INT32','shape':[2,2],'data':[0,0,0,0]},"
                "{'name':'updates','datatype':'FP32','shape':[2],'data':[1.0,2.2]}]}",
        .brief = "{'inputs':{'input_x':[[-0.1,0.3,3.6],[0.4,0.5,-3.2]],"
                 "'indices':[[0,0],[0,0]],'updates':[1.0,2.2]}}",
        .parts = {{"input_x", "FP32", "[2,3]",
                   BYTES_OF((float[]){-0.1f, 0.3f, 3.6f, 0.4f, 0.5f, -3.2f})},
                  {"indices", "INT32", "[2,2]", BYTES_OF((int32_t[]){0, 0, 0, 0})},
                  {"updates", "FP32", "[2]", BYTES_OF((float[]){1.0f, 2.2f})}},
        .shape = "[2,3]",
        .data = "[-3.3000002,0.3,3.6,0.4,0.5,-3.2]",
        .values = {-3.3000002f, 0.3f, 3.6f, 0.4f, 0.5f, -3.2f},
        .size_bytes = 6 * sizeof(float),
    },
    {
        .op = "TensorScatterNdAdd",
        .json = "{'inputs':[{'name':'tensor','datatype':'FP32','shape':[8],"
                "'data':[1,1,1,1,1,1,1,1]},"
                "{'name':'indices','datatype':'INT64','shape':[4,1],"
                "'data':[[4],[3],[1],[7]]},"
                "{'name':'updates','datatype':'FP32','shape':[4],'data':[9,10,11,12]}]}",
        .brief = "{'inputs':{'tensor':[1,1,1,1,1,1,1,1],'indices':[[4],[3],[1],[7]],"
                 "'updates':[9,10,11,12]}}",
        .parts = {{"tensor", "FP32", "[8]", BYTES_OF((float[]){1, 1, 1, 1, 1, 1, 1, 1})},
                  {"indices", "INT64", "[4,1]", BYTES_OF((int64_t[]){4, 3, 1, 7})},
                  {"updates", "FP32", "[4]", BYTES_OF((float[]){9, 10, 11, 12})}},
        .shape = "[8]",
        .data = "[1.0,12.0,1.0,11.0,10.0,1.0,1.0,13.0]",
        .values = {1, 12, 1, 11, 10, 1, 1, 13},
        .size_bytes = 8 * sizeof(float),
    },
    {
        .op = "ScatterNd",
        .json = "{'inputs':[{'name':'indices','datatype':'INT32','shape':[4,1],"
                "'data':[4,3,1,7]},"
                "{'name':'updates','datatype':'FP32','shape':[4],'data':[9,10,11,12]},"
                "{'name':'shape','datatype':'INT32','shape':[1],'data':[8]}]}",
        .brief = "{'inputs':{'indices':[[4],[3],[1],[7]],'updates':[9,10,11,12],"
                 "'shape':[8]}}",
        .parts = {{"indices", "INT32", "[4,1]", BYTES_OF((int32_t[]){4, 3, 1, 7})},
                  {"updates", "FP32", "[4]", BYTES_OF((float[]){9, 10, 11, 12})},
                  {"shape", "INT32", "[1]", BYTES_OF((int32_t[]){8})}},
        .shape = "[8]",
        .data = "[0.0,11.0,0.0,10.0,9.0,0.0,0.0,12.0]",
        .values = {0, 11, 0, 10, 9, 0, 0, 12},
        .size_bytes = 8 * sizeof(float),
    },
    {
        .op = "sparse_segment_mean",
        .json = "{'inputs':[{'name':'data','datatype':'FP32','shape':[3,3],"
                "'data':[[0,1,2],[1,2,3],[3,6,7]]},"
                "{'name':'indices','datatype':'INT32','shape':[3],'data':[0,1,2]},"
                "{'name':'segment_ids','datatype':'INT32','shape':[3],"
                "'data':[1,2,2]}]}",
        .brief = "{'inputs':{'data':[[0,1,2],[1,2,3],[3,6,7]],'indices':[0,1,2],"
                 "'segment_ids':[1,2,2]}}",
        .parts = {{"data", "FP32", "[3,3]", BYTES_OF((float[]){0, 1, 2, 1, 2, 3, 3, 6, 7})},
                  {"indices", "INT32", "[3]", BYTES_OF((int32_t[]){0, 1, 2})},
                  {"segment_ids", "INT32", "[3]", BYTES_OF((int32_t[]){1, 2, 2})}},
        .shape = "[3,3]",
        .data = "[0.0,0.0,0.0,0.0,1.0,2.0,2.0,4.0,5.0]",
        .values = {0, 0, 0, 0, 1, 2, 2, 4, 5},
        .size_bytes = 9 * sizeof(float),
    },
    {
        .op = "tensor_scatter_sub",
        .json = "{'inputs':[{'name':'tensor','datatype':'FP32','shape':[8],"
                "'data':[1,1,1,1,1,1,1,1]},"
                "{'name':'indices','datatype':'INT32','shape':[4,1],"
                "'data':[4,3,1,7]},"
                "{'name':'updates','datatype':'FP32','shape':[4],'data':[9,10,11,12]}]}",
        .brief = "{'inputs':{'tensor':[1,1,1,1,1,1,1,1],'indices':[[4],[3],[1],[7]],"
                 "'updates':[9,10,11,12]}}",
        .parts = {{"tensor", "FP32", "[8]", BYTES_OF((float[]){1, 1, 1, 1, 1, 1, 1, 1})},
                  {"indices", "INT32", "[4,1]", BYTES_OF((int32_t[]){4, 3, 1, 7})},
                  {"updates", "FP32", "[4]", BYTES_OF((float[]){9, 10, 11, 12})}},
        .shape = "[8]",
        .data = "[1.0,-10.0,1.0,-9.0,-8.0,1.0,1.0,-11.0]",
        .values = {1, -10, 1, -9, -8, 1, 1, -11},
        .size_bytes = 8 * sizeof(float),
    },
};

enum { EXAMPLES = sizeof(examples) / sizeof(examples[0]) };

static void check_json(struct fixture *f, const struct example *e, const char *request)
{
    struct answer a = fixture_json(f, e->op, request);
    char wanted[1024];

    snprintf(wanted, sizeof(wanted),
             "{'model_name':'%s','model_version':'1','outputs':[{'name':'output',"
             "'datatype':'FP32','shape':%s,'data':%s}]}",
             e->op, e->shape, e->data);
    expect_json(&a, wanted);
    answer_release(&a);
}

static void json_in_full(void **state)
{
    for (int i = 0; i < EXAMPLES; i++)
        check_json(*state, &examples[i], examples[i].json);
}

static void json_in_the_short_form(void **state)
{
    for (int i = 0; i < EXAMPLES; i++)
        check_json(*state, &examples[i], examples[i].brief);
}

static void check_binary(struct fixture *f, const struct example *e)
{
    struct body body;
    struct answer a;
    char wanted[1024];

    snprintf(wanted, sizeof(wanted),
             "{'model_name':'%s','model_version':'1','outputs':[{'name':'output',"
             "'datatype':'FP32','shape':%s,'parameters':{'binary_data_size':%zu}}]}",
             e->op, e->shape, e->size_bytes);
    assert_true(
        body_binary(&body, e->parts, PARTS_MAX, ",'parameters':{'binary_data_output':true}"));
    assert_true(client_binary(&f->client, e->op, &body, &a));
    expect_binary(&a, wanted, e->values, e->size_bytes);
    answer_release(&a);
    body_release(&body);
}

static void binary_both_ways(void **state)
{
    for (int i = 0; i < EXAMPLES; i++)
        check_binary(*state, &examples[i]);
}

static void binary_in_and_json_out(void **state)
{
    for (int i = 0; i < EXAMPLES; i++) {
        struct fixture *f = *state;
        struct body body;
        struct answer a;

        assert_true(body_binary(&body, examples[i].parts, PARTS_MAX, ""));
        assert_true(client_binary(&f->client, examples[i].op, &body, &a));
        assert_int_equal(a.status, 200);
        expect_part(&a, examples[i].data);
        expect_header(&a, "Content-Type", "application/json");
        answer_release(&a);
        body_release(&body);
    }
}

static void the_version_may_be_named(void **state)
{
    struct answer a =
        fixture_json(*state, "tensor_scatter_sub/versions/1", examples[EXAMPLES - 1].json);

    assert_int_equal(a.status, 200);
    expect_part(&a, examples[EXAMPLES - 1].data);
    answer_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_in_full),
        cmocka_unit_test(json_in_the_short_form),
        cmocka_unit_test(binary_both_ways),
        cmocka_unit_test(binary_in_and_json_out),
        cmocka_unit_test(the_version_may_be_named),
    };

    return cmocka_run_group_tests_name("examples", tests, fixture_start, fixture_stop);
}
