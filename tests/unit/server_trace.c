/* trace: W3C traceparent. */
#include "server/http/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define TRACE_ID  "0af7651916cd43dd8448eb211c80319c"
#define PARENT_ID "b7ad6b7169203331"

static struct request_ids ids;
static struct trace trace;

static void a_parent_is_taken_over(void **state)
{
    static const char *const headers[] = {
        "00-" TRACE_ID "-" PARENT_ID "-01",
        "00-" TRACE_ID "-" PARENT_ID "-00",
        "cc-" TRACE_ID "-" PARENT_ID "-01-what-the-future-brings",
    };
    (void)state;
    request_ids_init(&ids);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        trace_read(&trace, headers[i], &ids);
        assert_string_equal(trace.trace_id, TRACE_ID);
        assert_string_equal(trace.parent_id, PARENT_ID);
        assert_int_equal(strlen(trace.span_id), 16);
        assert_string_not_equal(trace.span_id, PARENT_ID);
    }
}

static void a_malformed_one_starts_a_new_trace(void **state)
{
    static const char *const headers[] = {
        "",
        "00",
        "00-" TRACE_ID "-" PARENT_ID,
        "00-" TRACE_ID "-" PARENT_ID "-1",
        "00-" TRACE_ID "-" PARENT_ID "-01-more",
        "00-" TRACE_ID "-" PARENT_ID "-01x",
        "ff-" TRACE_ID "-" PARENT_ID "-01",
        "0G-" TRACE_ID "-" PARENT_ID "-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" PARENT_ID "-01",
        "00-00000000000000000000000000000000-" PARENT_ID "-01",
        "00-" TRACE_ID "-0000000000000000-01",
        "00_" TRACE_ID "-" PARENT_ID "-01",
    };
    (void)state;
    request_ids_init(&ids);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        trace_read(&trace, headers[i], &ids);
        assert_string_not_equal(trace.trace_id, TRACE_ID);
        assert_int_equal(strlen(trace.trace_id), 32);
        assert_int_equal(strlen(trace.span_id), 16);
        assert_string_equal(trace.parent_id, "");
    }
}

static void without_the_header_there_is_no_trace(void **state)
{
    (void)state;
    trace_read(&trace, NULL, &ids);
    assert_string_equal(trace.trace_id, "");
    assert_string_equal(trace.span_id, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parent_is_taken_over),
        cmocka_unit_test(a_malformed_one_starts_a_new_trace),
        cmocka_unit_test(without_the_header_there_is_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
