/* head: what the headers of an infer request say. */
#include "proto/request/head.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct error error;

static struct head parse(const char *type, const char *length, const char *coding,
                         const char *accept)
{
    struct head head;
    assert_int_equal(head_parse(&head, type, length, coding, accept, &error), ERROR_NONE);
    return head;
}

static void without_headers_the_body_is_json(void **state)
{
    struct head head = parse(NULL, NULL, NULL, NULL);
    (void)state;
    assert_int_equal(head.body, ENCODING_JSON);
    assert_int_equal(head.header_length, -1);
    assert_int_equal(head.coding, CODING_IDENTITY);
    assert_int_equal(head.accepted, ENCODING_COUNT);
    assert_string_equal(head.safetensors_type, "application/vnd.safetensors");
    assert_false(head.problem_json);
}

static void the_content_type_matters_only_for_safetensors(void **state)
{
    static const struct {
        const char *type;
        enum encoding body;
    } rows[] = {
        {"application/json", ENCODING_JSON},
        {"application/x-www-form-urlencoded", ENCODING_JSON},
        {"application/octet-stream", ENCODING_JSON},
        {"", ENCODING_JSON},
        {"application/safetensorsx", ENCODING_JSON},
        {"application/vnd.safetensors", ENCODING_SAFETENSORS},
        {"application/safetensors", ENCODING_SAFETENSORS},
        {"application/x-safetensors", ENCODING_SAFETENSORS},
        {"  Application/VND.SafeTensors ; version=1", ENCODING_SAFETENSORS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(parse(rows[i].type, NULL, NULL, NULL).body, rows[i].body);
}

static void a_length_announces_binary_tensors(void **state)
{
    struct head head = parse("application/json", "311", NULL, NULL);
    (void)state;
    assert_int_equal(head.body, ENCODING_BINARY);
    assert_int_equal(head.header_length, 311);
    assert_int_equal(parse(NULL, " 007 ", NULL, NULL).header_length, 7);
    assert_int_equal(parse(NULL, "9223372036854775807", NULL, NULL).header_length, INT64_MAX);
}

static void lengths_that_are_none_are_refused(void **state)
{
    static const char *const lengths[] = {
        "",
        " ",
        "0",
        "000",
        "-1",
        "+1",
        "12abc",
        "1.0",
        "1e3",
        "0x10",
        "1 2",
        "1,1",
        "9223372036854775808",
        "99999999999999999999999",
        "\xd9\xa1",
    };
    struct head head;
    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        assert_int_equal(head_parse(&head, NULL, lengths[i], NULL, NULL, &error),
                         ERROR_INVALID_HEADER);
        assert_non_null(strstr(error.message, "Inference-Header-Content-Length is '"));
    }
}

static void a_safetensors_body_has_no_length(void **state)
{
    struct head head;
    (void)state;
    assert_int_equal(head_parse(&head, "application/safetensors", "10", NULL, NULL, &error),
                     ERROR_INVALID_HEADER);
    assert_non_null(strstr(error.message, "safetensors"));
}

static void codings_by_name(void **state)
{
    (void)state;
    assert_int_equal(parse(NULL, NULL, "identity", NULL).coding, CODING_IDENTITY);
    assert_int_equal(parse(NULL, NULL, "", NULL).coding, CODING_IDENTITY);
    assert_int_equal(parse(NULL, NULL, "gzip", NULL).coding, CODING_GZIP);
    assert_int_equal(parse(NULL, NULL, " GZip ", NULL).coding, CODING_GZIP);
    assert_int_equal(parse(NULL, NULL, "x-gzip", NULL).coding, CODING_GZIP);
    assert_int_equal(parse(NULL, NULL, "deflate", NULL).coding, CODING_DEFLATE);
    assert_int_equal(parse(NULL, NULL, "identity, gzip", NULL).coding, CODING_GZIP);
    assert_int_equal(parse(NULL, NULL, "deflate,, identity", NULL).coding, CODING_DEFLATE);
}

static void other_codings_are_refused(void **state)
{
    static const char *const codings[] = {
        "br", "zstd", "gzip, gzip", "identity, br", "gzip, deflate", "gzip;q=1", "gzi", "gzipp"};
    struct head head;
    (void)state;
    for (size_t i = 0; i < sizeof(codings) / sizeof(codings[0]); i++) {
        assert_int_equal(
            head_parse(&head, NULL, NULL, codings[i], "application/problem+json", &error),
            ERROR_UNSUPPORTED_ENCODING);
        assert_non_null(strstr(error.message, codings[i]));
        assert_true(head.problem_json);
    }
}

static void the_first_known_type_in_accept_decides(void **state)
{
    static const struct {
        const char *accept;
        enum encoding accepted;
    } rows[] = {
        {"*/*", ENCODING_COUNT},
        {"", ENCODING_COUNT},
        {",,", ENCODING_COUNT},
        {"text/html", ENCODING_COUNT},
        {"application/json", ENCODING_JSON},
        {"application/octet-stream", ENCODING_BINARY},
        {"APPLICATION/Octet-Stream", ENCODING_BINARY},
        {"text/html, application/octet-stream;q=0.9, application/json", ENCODING_BINARY},
        {"application/json,application/octet-stream", ENCODING_JSON},
        {"application/octet-stream;q=0, application/json", ENCODING_JSON},
        {"application/octet-stream; q=0.000 ;x=1, application/json", ENCODING_JSON},
        {"application/octet-stream;x=1; q=0, application/json", ENCODING_JSON},
        {"application/octet-stream; q=0.001, application/json", ENCODING_BINARY},
        {"application/x-safetensors, application/json", ENCODING_SAFETENSORS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(parse(NULL, NULL, NULL, rows[i].accept).accepted, rows[i].accepted);
}

static void the_safetensors_type_is_the_one_that_the_client_named(void **state)
{
    (void)state;
    assert_string_equal(parse("application/safetensors", NULL, NULL, NULL).safetensors_type,
                        "application/safetensors");
    assert_string_equal(
        parse("application/safetensors", NULL, NULL, "application/x-safetensors").safetensors_type,
        "application/x-safetensors");
    assert_string_equal(
        parse("application/safetensors", NULL, NULL, "application/json").safetensors_type,
        "application/safetensors");
}

static void problem_documents_are_asked_for(void **state)
{
    (void)state;
    assert_true(parse(NULL, NULL, NULL, "application/problem+json").problem_json);
    assert_true(
        parse(NULL, NULL, NULL, "application/json, application/problem+json;q=0.5").problem_json);
    assert_false(parse(NULL, NULL, NULL, "application/problem+json;q=0").problem_json);
    assert_false(parse(NULL, NULL, NULL, "application/problem+xml, */*").problem_json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_headers_the_body_is_json),
        cmocka_unit_test(the_content_type_matters_only_for_safetensors),
        cmocka_unit_test(a_length_announces_binary_tensors),
        cmocka_unit_test(lengths_that_are_none_are_refused),
        cmocka_unit_test(a_safetensors_body_has_no_length),
        cmocka_unit_test(codings_by_name),
        cmocka_unit_test(other_codings_are_refused),
        cmocka_unit_test(the_first_known_type_in_accept_decides),
        cmocka_unit_test(the_safetensors_type_is_the_one_that_the_client_named),
        cmocka_unit_test(problem_documents_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
