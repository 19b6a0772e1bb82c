/* BYTES: order of appending, empty elements, and the size of the answer's text. */
#include "tests/support/kernels/kernel_run.h"
#include "tests/support/kernels/tensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct kernel_run run;

static enum error_code start(const char *op, size_t limit, struct tensor a, struct tensor b,
                             struct tensor c)
{
    run = (struct kernel_run){.op = op, .inputs = {a, b, c}, .limit = limit};
    return kernel_run_do(&run);
}

static int teardown(void **state)
{
    (void)state;
    assert_true(run.guards_hold);
    kernel_run_release(&run);
    return 0;
}

static void expect_element(int64_t i, const char *text)
{
    const struct span *s = (const struct span *)run.plan.output.data + i;
    assert_int_equal(s->size, strlen(text));
    assert_non_null(s->data);
    assert_memory_equal(s->data, text, s->size);
}

static void rows_of_several_elements_append(void **state)
{
    (void)state;
    struct span updates[] = {SPAN("a"), SPAN("b"), SPAN("c"), SPAN(""), SPAN("d"), SPAN("ef")};
    assert_int_equal(start("scatter_nd", 0, TENSOR(INT32, INTS(2, 0, 2), 3, 1),
                           TENSOR(BYTES, updates, 3, 2), TENSOR(INT32, INTS(3, 2), 2)),
                     ERROR_NONE);
    static const char *const expected[] = {"c", "", "", "", "ad", "bef"};
    for (int i = 0; i < 6; i++)
        expect_element(i, expected[i]);
}

static void ignored_rows_append_nothing(void **state)
{
    (void)state;
    struct span updates[] = {SPAN("a"), SPAN("b"), SPAN("c")};
    run = (struct kernel_run){.op = "scatter_nd",
                              .inputs = {TENSOR(INT32, INTS(1, 5, 1), 3, 1),
                                         TENSOR(BYTES, updates, 3), TENSOR(INT32, INTS(2), 1)},
                              .ignore_bad = true};
    assert_int_equal(kernel_run_do(&run), ERROR_NONE);
    assert_int_equal(run.plan.ignored, 1);
    expect_element(0, "");
    expect_element(1, "ac");
}

/* 4 bytes for each of 3 sizes, and "abc" once. */
static void appended_text_counts_against_the_limit(void **state)
{
    (void)state;
    struct span updates[] = {SPAN("abc")};
    const struct tensor indices = TENSOR(INT32, INTS(1), 1, 1), shape = TENSOR(INT32, INTS(3), 1);
    assert_int_equal(start("scatter_nd", 15, indices, TENSOR(BYTES, updates, 1), shape),
                     ERROR_NONE);
    kernel_run_release(&run);
    assert_int_equal(start("scatter_nd", 14, indices, TENSOR(BYTES, updates, 1), shape),
                     ERROR_OUTPUT_TOO_LARGE);
    assert_string_equal(run.error.message,
                        "output has 15 bytes of text and sizes; at most 14 are allowed "
                        "(max_output)");
}

/* The same long text many times over: more than the request held. */
static void gathered_text_counts_against_the_limit(void **state)
{
    (void)state;
    struct span params[] = {SPAN("0123456789"), SPAN("")};
    const struct tensor indices = TENSOR(INT32, INTS(0, 0, 1, 0), 4, 1);
    assert_int_equal(start("gather_nd", 46, TENSOR(BYTES, params, 2), indices, TENSOR(NONE, NULL)),
                     ERROR_NONE);
    kernel_run_release(&run);
    assert_int_equal(start("gather_nd", 45, TENSOR(BYTES, params, 2), indices, TENSOR(NONE, NULL)),
                     ERROR_OUTPUT_TOO_LARGE);
}

/* Only what stays counts: neither the text that was there nor updates that were overwritten. */
static void updated_text_counts_what_stays(void **state)
{
    (void)state;
    struct span tensor[] = {SPAN("0123456789"), SPAN("xy")};
    struct span updates[] = {SPAN("a much longer text than will stay"), SPAN("abc")};
    const struct tensor indices = TENSOR(INT32, INTS(0, 0), 2, 1);
    assert_int_equal(start("tensor_scatter_update", 13, TENSOR(BYTES, tensor, 2), indices,
                           TENSOR(BYTES, updates, 2)),
                     ERROR_NONE);
    expect_element(0, "abc");
    expect_element(1, "xy");
    kernel_run_release(&run);
    assert_int_equal(start("tensor_scatter_update", 12, TENSOR(BYTES, tensor, 2), indices,
                           TENSOR(BYTES, updates, 2)),
                     ERROR_OUTPUT_TOO_LARGE);
}

static void an_error_changes_no_element(void **state)
{
    (void)state;
    struct span tensor[] = {SPAN("a"), SPAN("b")}, updates[] = {SPAN("a long text indeed")};
    run = (struct kernel_run){.op = "tensor_scatter_update",
                              .inputs = {TENSOR(BYTES, tensor, 2), TENSOR(INT32, INTS(1), 1, 1),
                                         TENSOR(BYTES, updates, 1)},
                              .limit = 12,
                              .in_place = true};
    assert_int_equal(kernel_run_do(&run), ERROR_OUTPUT_TOO_LARGE);
    expect_element(0, "a");
    expect_element(1, "b");
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_of_several_elements_append),        TEST(ignored_rows_append_nothing),
        TEST(appended_text_counts_against_the_limit), TEST(gathered_text_counts_against_the_limit),
        TEST(updated_text_counts_what_stays),         TEST(an_error_changes_no_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
