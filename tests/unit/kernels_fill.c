/* Start values: zeros and copies, through the caches and past them, wherever a part begins. */
#include "kernels/cpu/fill.h"
#include "tests/support/kernels/tensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { BYTES = 3 << 20 };

static void parts_are_written_and_nothing_else(void **state)
{
    const struct tensor *start = *state;
    static const size_t edges[] = {0, 1, 63, 64, 65, 1000, 1 << 20, (1 << 20) + 17, 2 << 20, BYTES};
    enum { EDGES = sizeof edges / sizeof edges[0] };
    unsigned char *out = malloc(BYTES), *expected = malloc(BYTES);
    struct plan plan = {.dtype = DTYPE_UINT8, .start = start, .output = {.data = out}};
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

/* Memory that ends the test when it is read or written. */
static void what_is_there_is_not_copied(void **state)
{
    (void)state;
    void *bytes = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(bytes != MAP_FAILED);
    struct tensor start = TENSOR(INT8, bytes, 4096);
    struct plan plan = {.start = &start, .output = {.data = bytes}};
    fill_start(&plan, 0, 4096, false);
    fill_start(&plan, 0, 4096, true);
    munmap(bytes, 4096);
}

/* Elements that no update reaches need not be zeros. */
static void empty_elements_are_repeated(void **state)
{
    (void)state;
    static uint32_t out[1000];
    struct plan plan = {.dtype = DTYPE_FP32, .output = {.data = out}};
    memcpy(plan.empty, FLOATS(1.5f), sizeof(float));
    for (size_t from = 0; from < 40; from++)
        for (size_t to = from; to < 1000; to += to < 64 ? 1 : 97)
            for (int elements = 0; elements < 2; elements++) {
                memset(out, 0xA5, sizeof out);
                if (elements)
                    fill_elements(out + from, &plan, (int64_t)(to - from));
                else
                    fill_empty(&plan, from * 4, to * 4, false);
                for (size_t i = 0; i < 1000; i++)
                    assert_int_equal(out[i], from <= i && i < to ? 0x3FC00000 : 0xA5A5A5A5);
            }
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
        cmocka_unit_test(empty_elements_are_repeated),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(source);
    return failed;
}
