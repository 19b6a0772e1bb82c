/* Safetensors files that break a rule of the format, among them those that its own library was
 * attacked with. Each is refused; none is read past its end. */
#include "tests/support/http/fixture.h"

#include <stdlib.h>
#include <string.h>

static struct answer post(void **state, const void *body, size_t size)
{
    return fixture_call(
        *state, &(struct call){.path = "/v2/models/tensor_scatter_add/infer",
                               .headers = {"Content-Type: application/vnd.safetensors", "Expect:"},
                               .body = body,
                               .size = size});
}

/* A file with this header (' stands for ") and `data_bytes` zeros; `claimed` is its N, 0 the
 * truth. */
static struct answer post_file(void **state, const char *header, size_t data_bytes,
                               uint64_t claimed)
{
    char *json = quote(header);
    uint64_t length = claimed != 0 ? claimed : strlen(json);
    size_t size = sizeof(length) + strlen(json) + data_bytes;
    char *file = calloc(1, size);
    struct answer a;

    assert_non_null(file);
    memcpy(file, &length, sizeof(length));
    memcpy(file + sizeof(length), json, strlen(json));
    a = post(state, file, size);
    free(file);
    free(json);
    return a;
}

#define T "'tensor':{'dtype':'F32','shape':[4],'data_offsets':[0,16]}"
#define I "'indices':{'dtype':'I32','shape':[2,1],'data_offsets':[16,24]}"
#define U "'updates':{'dtype':'F32','shape':[2],'data_offsets':[24,32]}"

static void a_right_file_is_answered(void **state)
{
    static const char *const headers[] = {
        "{" T "," I "," U "}",
        "{" U "," T "," I "}",
        "{" T "," I "," U "}   ",
        "{'__metadata__':{'anything':'else','bad_indices_policy':'IGNORE'}," T "," I "," U "}",
    };

    for (int i = 0; i < 4; i++) {
        struct answer a = post_file(state, headers[i], 32, 0);

        assert_int_equal(a.status, 200);
        expect_header(&a, "Content-Type", "application/vnd.safetensors");
        answer_release(&a);
    }
}

struct row {
    const char *header;
    size_t data_bytes;
    const char *code;
};

static void check_rows(void **state, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct answer a = post_file(state, rows[i].header, rows[i].data_bytes, 0);

        if (a.status != 400)
            print_error("header %s\n", rows[i].header);
        expect_error(&a, 400, rows[i].code, "");
        answer_release(&a);
    }
    fixture_check_alive(*state);
}

#define CHECK_ROWS(STATE, ROWS) check_rows(STATE, ROWS, sizeof(ROWS) / sizeof(ROWS[0]))

static void the_length_of_the_header(void **state)
{
    static const char *const files[] = {"", "\2\0\0\0\0\0\0", "\3\0\0\0\0\0\0\0{}"};
    static const size_t sizes[] = {0, 7, 10};
    static const uint64_t claims[] = {UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63, 100000001, 3};

    for (int i = 0; i < 3; i++) {
        struct answer a = post(state, files[i], sizes[i]);

        expect_error(&a, 400, "INVALID_HEADER", "");
        answer_release(&a);
    }
    for (int i = 0; i < 5; i++) {
        struct answer a = post_file(state, "{}", 0, claims[i]);

        expect_error(&a, 400, "INVALID_HEADER", "");
        answer_release(&a);
    }
    fixture_check_alive(*state);
}

static void the_json_of_the_header(void **state)
{
    static const struct row rows[] = {
        {" {" T "," I "," U "}", 32, "INVALID_JSON"},
        {"{" T "," I "," U "}x", 32, "INVALID_JSON"},
        {"{" T "," I "," U, 32, "INVALID_JSON"},
        {"{" T "," T "," I "," U "}", 32, "INVALID_JSON"},
        {"[]", 0, "INVALID_JSON"},
        {"", 0, "INVALID_JSON"},
        {"{'\xff':1}", 0, "INVALID_JSON"},
        {"{'tensor':{'dtype':'F32','dtype':'F32','shape':[4],'data_offsets':[0,16]}," I "," U "}",
         32, "INVALID_JSON"},
        {"{}", 0, "MISSING_INPUT"},
        {"{'__metadata__':5," T "," I "," U "}", 32, "INVALID_FIELD"},
        {"{'__metadata__':{'a':5}," T "," I "," U "}", 32, "INVALID_FIELD"},
        {"{'__metadata__':{'a':null}," T "," I "," U "}", 32, "INVALID_FIELD"},
        {"{'__metadata__':{'bad_indices_policy':'NEVER'}," T "," I "," U "}", 32,
         "INVALID_PARAMETER"},
        {"{'weights':{'dtype':'F32','shape':[0],'data_offsets':[0,0]}," T "," I "," U "}", 32,
         "UNKNOWN_INPUT"},
    };

    CHECK_ROWS(state, rows);
}

static void the_members_of_a_tensor(void **state)
{
    static const struct row rows[] = {
        {"{'tensor':5," I "," U "}", 32, "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','shape':[4]}," I "," U "}", 32, "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','data_offsets':[0,16]}," I "," U "}", 32, "INVALID_FIELD"},
        {"{'tensor':{'shape':[4],'data_offsets':[0,16]}," I "," U "}", 32, "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','shape':[4],'data_offsets':[0,16],'x':1}," I "," U "}", 32,
         "INVALID_FIELD"},
        {"{'tensor':{'dtype':'FP32','shape':[4],'data_offsets':[0,16]}," I "," U "}", 32,
         "UNSUPPORTED_DTYPE"},
        {"{'tensor':{'dtype':'F8_E5M2','shape':[16],'data_offsets':[0,16]}," I "," U "}", 32,
         "UNSUPPORTED_DTYPE"},
        {"{'tensor':{'dtype':'F32','shape':[4.0],'data_offsets':[0,16]}," I "," U "}", 32,
         "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','shape':[4e0],'data_offsets':[0,16]}," I "," U "}", 32,
         "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','shape':[-4],'data_offsets':[0,16]}," I "," U "}", 32,
         "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','shape':['4'],'data_offsets':[0,16]}," I "," U "}", 32,
         "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','shape':4,'data_offsets':[0,16]}," I "," U "}", 32,
         "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','shape':[4],'data_offsets':[0]}," I "," U "}", 32,
         "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','shape':[4],'data_offsets':[0,16,16]}," I "," U "}", 32,
         "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','shape':[4],'data_offsets':[16,0]}," I "," U "}", 32,
         "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','shape':[4],'data_offsets':[-16,0]}," I "," U "}", 32,
         "INVALID_FIELD"},
    };

    CHECK_ROWS(state, rows);
}

static void every_byte_belongs_to_one_tensor(void **state)
{
    static const struct row rows[] = {
        /* bytes behind the last tensor; two bytes missing */
        {"{" T "," I "," U "}", 33, "SIZE_MISMATCH"},
        {"{" T "," I "," U "}", 30, "SIZE_MISMATCH"},
        /* a hole at the front, one between, an overlap, the same bytes twice */
        {"{'tensor':{'dtype':'F32','shape':[3],'data_offsets':[4,16]}," I "," U "}", 32,
         "SIZE_MISMATCH"},
        {"{'tensor':{'dtype':'F32','shape':[3],'data_offsets':[0,12]}," I "," U "}", 32,
         "SIZE_MISMATCH"},
        {"{'tensor':{'dtype':'F32','shape':[5],'data_offsets':[0,20]}," I "," U "}", 32,
         "SIZE_MISMATCH"},
        {"{'tensor':{'dtype':'F32','shape':[2],'data_offsets':[16,24]}," I "," U "}", 32,
         "SIZE_MISMATCH"},
        /* the same where the sizes add up: two share their bytes, others belong to nobody */
        {"{" T "," I ",'updates':{'dtype':'F32','shape':[2],'data_offsets':[16,24]}}", 32,
         "SIZE_MISMATCH"},
        {"{'tensor':{'dtype':'F32','shape':[4],'data_offsets':[4,20]},"
         "'indices':{'dtype':'I32','shape':[2,1],'data_offsets':[20,28]},"
         "'updates':{'dtype':'F32','shape':[2],'data_offsets':[28,36]}}",
         32, "SIZE_MISMATCH"},
        /* a shape that is not its bytes */
        {"{'tensor':{'dtype':'F32','shape':[5],'data_offsets':[0,16]}," I "," U "}", 32,
         "SIZE_MISMATCH"},
        {"{'tensor':{'dtype':'F32','shape':[3],'data_offsets':[0,16]}," I "," U "}", 32,
         "SIZE_MISMATCH"},
        /* products that wrap to what fits */
        {"{'tensor':{'dtype':'F32','shape':[4294967296,4294967296],'data_offsets':[0,16]}," I "," U
         "}",
         32, "SIZE_MISMATCH"},
        {"{'tensor':{'dtype':'F32','shape':[2147483648,8589934592,4],'data_offsets':[0,16]}," I
         "," U "}",
         32, "SIZE_MISMATCH"},
        /* a dimension that a double does not hold exactly */
        {"{'tensor':{'dtype':'F32','shape':[4611686018427387905,4],'data_offsets':[0,16]}," I "," U
         "}",
         32, "INVALID_FIELD"},
        /* ends beyond the file, and beyond 64 bits */
        {"{'tensor':{'dtype':'F32','shape':[4],'data_offsets':[0,4503599627370496]}," I "," U "}",
         32, "SIZE_MISMATCH"},
        {"{'tensor':{'dtype':'F32','shape':[2,18446744073709551614],'data_offsets':[0,16]}," I "," U
         "}",
         32, "INVALID_FIELD"},
        {"{'tensor':{'dtype':'F32','shape':[4],'data_offsets':[0,18446744073709551632]}," I "," U
         "}",
         32, "INVALID_FIELD"},
    };

    CHECK_ROWS(state, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_file_is_answered),
        cmocka_unit_test(the_length_of_the_header),
        cmocka_unit_test(the_json_of_the_header),
        cmocka_unit_test(the_members_of_a_tensor),
        cmocka_unit_test(every_byte_belongs_to_one_tensor),
    };

    return cmocka_run_group_tests_name("safetensors", tests, fixture_start, fixture_stop);
}
