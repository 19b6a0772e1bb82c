/* guise: a body that is not what its headers say is told what it looks like, and which header
 * decides. */
#include "tests/support/proto/infer_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_bad(const char *body, size_t size, enum error_code code, const char *sentence)
{
    enum error_code got = infer_decode(&f, "tensor_scatter_add", body, size);
    if (got != code || strcmp(f.error.message, sentence) != 0)
        fail_msg("%.*s: %s: %s; expected %s", (int)size, body, error_name(got),
                 got ? f.error.message : "", sentence);
}

/* Bodies, and what they look like. */
#define BODY(bytes) bytes, sizeof(bytes) - 1
static const struct {
    const char *bytes;
    size_t size;
    const char *looks; /* how that sentence begins; NULL: there is none */
} bodies[] = {
    {BODY("\x1F\x8B\b\0\0\0\0\0\0\3"), "gzip; if it is, send the header Content-Encoding: gzip"},
    {BODY("\x78\x9C\xAB\xAE"), "deflate; if it is, send the header Content-Encoding: deflate"},
    {BODY("\x28\xB5\x2F\xFD\4\0"), "Zstandard; "},
    {BODY("\x0c\0\0\0\0\0\0\0{\"a\":[1,2]} 1234"),
     "a safetensors file; if it is, send the header Content-Type: application/vnd.safetensors"},
    {BODY("\x93NUMPY\1\0v\0{'descr'"), "a NumPy file; send safetensors"},
    {BODY("PK\3\4\24\0"), "a ZIP file, as .npz is; "},
    {BODY("\x80\4\x95\x1A"), "a Python pickle; "},
    {BODY("\xEF\xBB\xBF{\"inputs\":[]}"), "text with a byte order mark; JSON is sent without it"},
    {BODY("{\0\"\0i\0"), "UTF-16; JSON is sent as UTF-8"},
    {BODY("\xFF\xFE{\0\"\0"), "UTF-16; "},
    {BODY("--------------------------d74496d66958873e\r\nContent-Disposition: form-data; "
          "name=\"file\"\r\n\r\n{}\r\n"),
     "a multipart form; send the request itself as the body"},
    {BODY("inputs=tensor&inputs=indices"), "a URL-encoded form; send the request as JSON"},
    {BODY("%7B%22inputs%22=1"), NULL},
    {BODY("---\ninputs:\n"), "YAML; send the request as JSON"},
    {BODY("\n<!DOCTYPE html><html>"), "HTML or XML; send the request as JSON"},
    {BODY("{'inputs': {'tensor': [1]}}"), "a Python dictionary; send what json.dumps makes of it"},
    {BODY("hello"), NULL},
    {BODY("@request.json"), NULL},
    {BODY("\1\2\3"), NULL},
};

static void what_is_not_json_is_told_what_it_looks_like(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        char sentence[256];
        enum error_code code =
            infer_decode(&f, "tensor_scatter_add", bodies[i].bytes, bodies[i].size);
        snprintf(sentence, sizeof(sentence), "the body is not JSON but looks like %s",
                 bodies[i].looks ? bodies[i].looks : "");
        if (code != ERROR_INVALID_JSON ||
            (bodies[i].looks ? strncmp(f.error.message, sentence, strlen(sentence)) != 0
                             : !strstr(f.error.message, "the body is not JSON, it begins with ")))
            fail_msg("%s: %s; expected %s", error_name(code), f.error.message, sentence);
    }
    expect_bad(BODY(" hello"), ERROR_INVALID_JSON,
               "the body is not JSON, it begins with 'h'; send the request as JSON, or as a "
               "safetensors file with the header Content-Type: application/vnd.safetensors");
    expect_bad(BODY("\1\2"), ERROR_INVALID_JSON,
               "the body is not JSON, it begins with 0x01; send the request as JSON, or as a "
               "safetensors file with the header Content-Type: application/vnd.safetensors");
    expect_bad(BODY("  "), ERROR_INVALID_JSON,
               "the JSON text ends at byte 2; expected a JSON value");
    expect_bad("", 0, ERROR_INVALID_JSON, "the body is empty; expected a JSON object");
    expect_bad("{\"a\":}", 6, ERROR_INVALID_JSON,
               "byte 5 of the JSON text is '}'; expected a JSON value");
}

static void what_is_no_safetensors_file_is_told_what_it_looks_like(void **state)
{
    (void)state;
    f.head.body = ENCODING_SAFETENSORS;
    expect_bad(BODY(" {\"inputs\":{\"tensor\":[1]}}"), ERROR_INVALID_HEADER,
               "the body is read as a safetensors file, but it looks like JSON; "
               "if it is, send the header Content-Type: application/json and no Content-Encoding");
    expect_bad(BODY("\x1F\x8B\b\0\0\0\0\0\0\3"), ERROR_INVALID_HEADER,
               "the body is read as a safetensors file, but it looks like gzip; "
               "if it is, send the header Content-Encoding: gzip");
    expect_bad(BODY("1234567"), ERROR_INVALID_HEADER,
               "the body has 7 bytes; a safetensors file has at least 8");
}

static void what_is_not_compressed_is_told_what_it_looks_like(void **state)
{
    (void)state;
    f.head.coding = CODING_GZIP;
    expect_bad(BODY("{\"inputs\":{\"tensor\":[1]}}"), ERROR_INVALID_HEADER,
               "Content-Encoding is gzip, but the body looks like JSON; if it is, send the header "
               "Content-Type: application/json and no Content-Encoding");
    expect_bad(BODY("\x28\xB5\x2F\xFD\4\0"), ERROR_INVALID_HEADER,
               "Content-Encoding is gzip, but the body looks like Zstandard; Content-Encoding may "
               "be gzip or deflate, with the header that says so");
    expect_bad(BODY("\x1F\x8B\b\0\0"), ERROR_INVALID_HEADER,
               "Content-Encoding is gzip, but the body of 5 bytes ends in the middle of its "
               "stream");
}

/* A header says where the JSON ends. */
static void a_header_that_cuts_the_text_is_named(void **state)
{
    static const char json[] = "{\"inputs\":[]}";
    (void)state;
    f.head.body = ENCODING_BINARY;
    f.head.header_length = 5;
    expect_bad(BODY(json), ERROR_INVALID_JSON,
               "the JSON text ends at byte 5; expected the end of a string "
               "(Inference-Header-Content-Length says that the JSON is the first 5 of the body's "
               "13 bytes)");
    f.head.header_length = 15;
    expect_bad(BODY("{\"inputs\":[]}\0\0\0\0"), ERROR_INVALID_JSON,
               "byte 13 of the JSON text is 0x00; expected nothing after the JSON value "
               "(Inference-Header-Content-Length says that the JSON is the first 15 of the body's "
               "17 bytes)");
}

static void a_header_that_is_missing_is_named(void **state)
{
    (void)state;
    expect_bad(BODY("{\"inputs\":[{\"parameters\":{\"binary_data_size\":4}}]}\0\0\0\0"),
               ERROR_INVALID_JSON,
               "byte 50 of the JSON text is 0x00; expected nothing after the JSON value (without "
               "the header Inference-Header-Content-Length all of the body is JSON)");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_not_json_is_told_what_it_looks_like),
        TEST(what_is_no_safetensors_file_is_told_what_it_looks_like),
        TEST(what_is_not_compressed_is_told_what_it_looks_like),
        TEST(a_header_that_cuts_the_text_is_named),
        TEST(a_header_that_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
