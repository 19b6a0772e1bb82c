#include "tests/support/proto/scan_json.h"

#include "tests/support/proto/quote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void scan_json_init(struct scan_json *s)
{
    *s = (struct scan_json){0};
    test_memory_init(&s->memory);
}

void scan_json_bytes(struct scan_json *s, const char *bytes, size_t size)
{
    s->text = malloc(size > 0 ? size : 1);
    assert_non_null(s->text);
    memcpy(s->text, bytes, size);
    s->code = json_scan(&s->scan, s->text, size, SCAN_JSON_REST_MAX, &s->memory.work, &s->error);
}

void scan_json_text(struct scan_json *s, const char *text)
{
    char *quoted = quote(text);
    scan_json_bytes(s, quoted, strlen(quoted));
    free(quoted);
}

void scan_json_release(struct scan_json *s)
{
    test_memory_clear(&s->memory);
    free(s->text);
}

void scan_json_expect_good(const char *text)
{
    struct scan_json s;
    scan_json_init(&s);
    scan_json_text(&s, text);
    if (s.code)
        fail_msg("%s: %s", text, s.error.message);
    scan_json_release(&s);
}

void scan_json_expect_fault(const char *text, int byte)
{
    struct scan_json s;
    char place[32];
    bool at_end = byte == (int)strlen(text);
    snprintf(place, sizeof(place), at_end ? "ends at byte %d;" : "byte %d of", byte);
    scan_json_init(&s);
    scan_json_text(&s, text);
    if (s.code != ERROR_INVALID_JSON || !strstr(s.error.message, place))
        fail_msg("%s: %s: %s (expected byte %d)", text, error_name(s.code),
                 s.code ? s.error.message : "", byte);
    scan_json_release(&s);
}
