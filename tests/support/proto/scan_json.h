/* scan_json: one scan of a JSON text, written with ' for ". */
#ifndef TESTS_SUPPORT_PROTO_SCAN_JSON_H
#define TESTS_SUPPORT_PROTO_SCAN_JSON_H

#include "proto/json/scan.h"
#include "tests/support/proto/test_memory.h"

#include <stddef.h>

enum { SCAN_JSON_REST_MAX = 256 * 1024 };

struct scan_json {
    struct test_memory memory; /* its settings may be changed between init and scan */
    struct json_scan scan;
    struct error error;
    enum error_code code;
    char *text; /* in a block of exactly its size: a sanitizer sees each byte too far */
};

void scan_json_init(struct scan_json *s);
void scan_json_text(struct scan_json *s, const char *text);
void scan_json_bytes(struct scan_json *s, const char *bytes, size_t size);
void scan_json_release(struct scan_json *s);

/* For cmocka programs: the text is JSON; or it is INVALID_JSON, and the sentence names the byte. */
void scan_json_expect_good(const char *text);
void scan_json_expect_fault(const char *text, int byte);

#endif
