/* Binary requests whose numbers lie: the length of the JSON, the size of a tensor, the lengths in
 * BYTES. Each is refused with the number that was found, and nothing is read that is not there. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct answer post(void **state, const char *length, const void *body, size_t size)
{
    char header[128];

    snprintf(header, sizeof(header), "Inference-Header-Content-Length:%s%s",
             length[0] != '\0' ? " " : "", length);
    if (length[0] == '\0')
        strcpy(header, "Inference-Header-Content-Length;"); /* how curl says an empty value */
    return fixture_call(*state, &(struct call){.path = "/v2/models/tensor_scatter_add/infer",
                                               .headers = {header, "Expect:", NULL},
                                               .body = body,
                                               .size = size});
}

static void lengths_of_the_json_that_cannot_be(void **state)
{
    static const char *const lengths[] = {"0",
                                          "00",
                                          "-1",
                                          "+2",
                                          "12abc",
                                          "0x2",
                                          "2.0",
                                          "1e1",
                                          "3",
                                          "4294967298",
                                          "9223372036854775807",
                                          "9223372036854775808",
                                          "18446744073709551618",
                                          "99999999999999999999999999999999",
                                          "",
                                          "2,2",
                                          "2 2"};

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        struct answer a = post(state, lengths[i], "{}", 2);

        if (a.status != 400)
            print_error("length '%s'\n", lengths[i]);
        expect_error(&a, 400, "INVALID_HEADER", "");
        answer_release(&a);
    }
    fixture_check_alive(*state);
}

static void a_length_within_the_json_cuts_it(void **state)
{
    struct answer a = post(state, "1", "{}", 2);

    expect_error(&a, 400, "INVALID_JSON", "");
    answer_release(&a);
}

/* The inputs' sizes and the bytes behind the JSON. */
struct row {
    const char *tensor_size, *tensor_shape, *indices_size, *updates_size;
    size_t tail_bytes;
    const char *code;
};

static struct answer send_row(void **state, const struct row *row)
{
    static const char tail[256] = {0};
    char json[1024], length[32], body[2048];
    int size = snprintf(json, sizeof(json),
                        "{\"inputs\":["
                        "{\"name\":\"tensor\",\"datatype\":\"FP32\",\"shape\":%s,"
                        "\"parameters\":{\"binary_data_size\":%s}},"
                        "{\"name\":\"indices\",\"datatype\":\"INT32\",\"shape\":[2,1],"
                        "\"parameters\":{\"binary_data_size\":%s}},"
                        "{\"name\":\"updates\",\"datatype\":\"FP32\",\"shape\":[2],"
                        "\"parameters\":{\"binary_data_size\":%s}}]}",
                        row->tensor_shape, row->tensor_size, row->indices_size, row->updates_size);

    memcpy(body, json, (size_t)size);
    memcpy(body + size, tail, row->tail_bytes);
    snprintf(length, sizeof(length), "%d", size);
    return post(state, length, body, (size_t)size + row->tail_bytes);
}

static void sizes_that_do_not_fit(void **state)
{
    static const struct row rows[] = {
        {"16", "[4]", "8", "8", 32, NULL},
        {"16", "[4]", "8", "8", 31, "SIZE_MISMATCH"},
        {"16", "[4]", "8", "8", 33, "SIZE_MISMATCH"},
        {"16", "[4]", "8", "8", 0, "SIZE_MISMATCH"},
        {"12", "[4]", "8", "8", 28, "SIZE_MISMATCH"},
        {"20", "[4]", "8", "8", 36, "SIZE_MISMATCH"},
        {"17", "[4]", "8", "8", 33, "SIZE_MISMATCH"},
        {"0", "[4]", "8", "8", 16, "SIZE_MISMATCH"},
        {"8", "[4]", "16", "8", 32, "SIZE_MISMATCH"},
        {"4294967312", "[4]", "8", "8", 32, "SIZE_MISMATCH"},
        {"9007199254740991", "[4]", "8", "8", 32, "SIZE_MISMATCH"},
        {"16", "[1152921504606846976,16]", "8", "8", 32, "INVALID_FIELD"},
        {"16", "[4294967296,4294967296,4]", "8", "8", 32, "SIZE_MISMATCH"},
        {"9007199254740992", "[4]", "8", "8", 32, "INVALID_FIELD"},
        {"9223372036854775808", "[4]", "8", "8", 32, "INVALID_FIELD"},
        {"18446744073709551632", "[4]", "8", "8", 32, "INVALID_FIELD"},
        {"-16", "[4]", "8", "8", 32, "INVALID_FIELD"},
        {"16.5", "[4]", "8", "8", 32, "INVALID_FIELD"},
        {"\"16\"", "[4]", "8", "8", 32, "INVALID_FIELD"},
        {"true", "[4]", "8", "8", 32, "INVALID_FIELD"},
        {"16", "[-4]", "8", "8", 32, "INVALID_FIELD"},
        {"16", "[9223372036854775808]", "8", "8", 32, "INVALID_FIELD"},
        {"16", "[[4]]", "8", "8", 32, "INVALID_FIELD"},
        {"16", "4", "8", "8", 32, "INVALID_FIELD"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer a = send_row(state, &rows[i]);

        if (rows[i].code == NULL)
            assert_int_equal(a.status, 200);
        else
            expect_error(&a, 400, rows[i].code, "");
        answer_release(&a);
    }
    fixture_check_alive(*state);
}

static void data_and_binary_data_size_exclude_each_other(void **state)
{
    struct answer a =
        fixture_json(*state, "tensor_scatter_add",
                     "{'inputs':[{'name':'tensor','datatype':'FP32','shape':[1],'data':[1],"
                     "'parameters':{'binary_data_size':4}}]}");

    assert_int_equal(a.status, 400);
    assert_non_null(answer_header(&a, "Error-Code"));
    answer_release(&a);
}

static void a_binary_size_needs_the_header(void **state)
{
    struct answer a = fixture_json(*state, "tensor_scatter_add",
                                   "{'inputs':[{'name':'tensor','datatype':'FP32','shape':[1],"
                                   "'parameters':{'binary_data_size':4}}]}");

    expect_error(&a, 400, "INVALID_HEADER", "Inference-Header-Content-Length");
    answer_release(&a);
}

static struct answer send_strings(void **state, const char *shape, const char *bytes, size_t size)
{
    const int32_t index = 0;
    const struct part parts[] = {
        {"tensor", "BYTES", shape, bytes, size},
        {"indices", "INT32", "[1,1]", &index, sizeof(index)},
        {"updates", "BYTES", "[1]", "\1\0\0\0x", 5},
    };
    struct fixture *f = *state;
    struct body body;
    struct answer a;

    assert_true(body_binary(&body, parts, 3, ",'parameters':{'binary_data_output':true}"));
    assert_true(client_binary(&f->client, "tensor_scatter_update", &body, &a));
    body_release(&body);
    return a;
}

static void strings_whose_lengths_lie(void **state)
{
    static const struct {
        const char *shape, *bytes;
        size_t size;
        int status;
    } rows[] = {
        {"[2]", "\1\0\0\0a\2\0\0\0bc", 11, 200},
        {"[2]", "\1\0\0\0a\3\0\0\0bc", 11, 400},
        {"[2]", "\1\0\0\0a\1\0\0\0bc", 11, 400},
        {"[1]", "\1\0\0\0a\2\0\0\0bc", 11, 400},
        {"[3]", "\1\0\0\0a\2\0\0\0bc", 11, 400},
        {"[2]",
         "\1\0\0\0a\xff\xff\xff\xff"
         "bc",
         11, 400},
        {"[2]",
         "\xff\xff\xff\x7f"
         "abcdefg",
         11, 400},
        {"[1]", "\1\0\0", 3, 400},
        {"[1]", "", 0, 400},
        {"[4503599627370496]", "\0\0\0\0", 4, 400},
        {"[4294967296,4294967296]", "\0\0\0\0", 4, 400},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer a = send_strings(state, rows[i].shape, rows[i].bytes, rows[i].size);

        if (rows[i].status == 200)
            assert_int_equal(a.status, 200);
        else
            expect_error(&a, 400, "SIZE_MISMATCH", "tensor");
        answer_release(&a);
    }
    fixture_check_alive(*state);
}

/* An INT64 tensor behind an odd count of FP32 starts at a multiple of 4 only. */
static void tensors_may_start_anywhere(void **state)
{
    const float tensor[3] = {1, 2, 3}, update = 5;
    const int64_t index = 2;
    const struct part parts[] = {
        {"tensor", "FP32", "[3]", tensor, sizeof(tensor)},
        {"indices", "INT64", "[1,1]", &index, sizeof(index)},
        {"updates", "FP32", "[1]", &update, sizeof(update)},
    };
    const float wanted[3] = {1, 2, 8};
    struct fixture *f = *state;

    for (int blanks = 0; blanks < 16; blanks++) {
        char more[128];
        struct body body;
        struct answer a;
        size_t size = 0;
        const char *found;

        snprintf(more, sizeof(more), ",'parameters':{'binary_data_output':true}%*s", blanks, "");
        assert_true(body_binary(&body, parts, 3, more));
        assert_true(client_binary(&f->client, "tensor_scatter_add", &body, &a));
        found = answer_tensors(&a, &size);
        assert_non_null(found);
        assert_int_equal(size, sizeof(wanted));
        assert_memory_equal(found, wanted, size);
        answer_release(&a);
        body_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_of_the_json_that_cannot_be),
        cmocka_unit_test(a_length_within_the_json_cuts_it),
        cmocka_unit_test(sizes_that_do_not_fit),
        cmocka_unit_test(data_and_binary_data_size_exclude_each_other),
        cmocka_unit_test(a_binary_size_needs_the_header),
        cmocka_unit_test(strings_whose_lengths_lie),
        cmocka_unit_test(tensors_may_start_anywhere),
    };

    return cmocka_run_group_tests_name("framing", tests, fixture_start, fixture_stop);
}
