/* Start values: zeros and copies, through the caches and past them, wherever a part begins. */
#include "kernels/cpu/fill.h"
#include "tests/support/kernels/tensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 3 << 20 };

static void parts_are_written_and_nothing_else(void **state)
{
    const struct tensor *start = *state;
    static const size_t edges[] = {0, 1, 63, 64, 65, 1000, 1 << 20, (1 << 20) + 17, 2 << 20, BYTES};
    enum { EDGES = sizeof edges / sizeof edges[0] };
    unsigned char *out = malloc(BYTES), *expected = malloc(BYTES);
    struct plan plan = {.start = start, .output = {.data = out}};
    for (int i = 0; i < EDGES; i++)
        for (int j = i; j < EDGES; j++)
            for (int stream = 0; stream <= 1; stream++) {
                size_t from = edges[i], bytes = edges[j] - edges[i];
                memset(out, 0xA5, BYTES);
                memset(expected, 0xA5, BYTES);
                if (start)
                    memcpy(expected + from, (char *)start->data + from, bytes);
                else
                    memset(expected + from, 0, bytes);
                fill_start(&plan, from, from + bytes, stream);
                assert_memory_equal(out, expected, BYTES);
            }
    free(out);
    free(expected);
}

static void what_is_there_is_not_copied(void **state)
{
    (void)state;
    char bytes[4] = "abc";
    struct tensor start = TENSOR(INT8, bytes, 4);
    struct plan plan = {.start = &start, .output = {.data = bytes}};
    fill_start(&plan, 0, 4, false);
    assert_string_equal(bytes, "abc");
    fill_zeros(&plan, 1, 2, false);
    assert_memory_equal(bytes, "a\0c", 4);
}

int main(void)
{
    unsigned char *source = malloc(BYTES);
    for (size_t k = 0; k < BYTES; k++)
        source[k] = (unsigned char)(k * 31 >> 3);
    struct tensor start = TENSOR(UINT8, source, BYTES);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(parts_are_written_and_nothing_else, NULL),
        cmocka_unit_test_prestate(parts_are_written_and_nothing_else, &start),
        cmocka_unit_test(what_is_there_is_not_copied),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(source);
    return failed;
}
