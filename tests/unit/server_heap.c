/* heap: what a peak leaves in malloc is seen and given back, however other threads free
 * meanwhile. */
#include "server/memory/heap.h"
#include "tests/support/http/preload.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 400, BLOCK = 60000, LARGE = 16 << 20 };

static char *early[BLOCKS], *late[BLOCKS];
static char **freed_meanwhile; /* freed during the next trim, as another thread may */

/* This malloc_trim stands in front of the C library's, which it calls. */
int malloc_trim(size_t pad);

static void free_all(char **blocks)
{
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
}

int malloc_trim(size_t pad)
{
    int (*trim)(size_t) = (int (*)(size_t))dlsym(RTLD_NEXT, "malloc_trim");
    int given = trim(pad);
    if (freed_meanwhile)
        free_all(freed_meanwhile);
    return given;
}

/* Allocates the blocks, and behind them one more, which is returned. It stays at the top of the
 * heap, whose free memory malloc would give back by itself. */
static char *fill(char **blocks)
{
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BLOCK);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, BLOCK);
    }
    return malloc(1);
}

static void what_is_freed_during_a_trim_goes_with_the_next(void **state)
{
    (void)state;
    struct heap heap = {0};
    if (!PRELOAD_WORKS)
        skip();
    char *after_early = fill(early), *after_late = fill(late);
    heap_trim(&heap);
    assert_false(heap_is_slack(&heap));
    free_all(early);
    assert_true(heap_is_slack(&heap));
    freed_meanwhile = late;
    heap_trim(&heap);
    freed_meanwhile = NULL;
    assert_true(heap_is_slack(&heap));
    heap_trim(&heap);
    assert_false(heap_is_slack(&heap));
    free(after_early);
    free(after_late);
}

/* The peak of a thread, which has a heap of its own. It comes after the free of a large block, from
 * which glibc would learn to keep more if it were not told how much. */
static void *have_peak(void *argument)
{
    char **blocks = argument;
    blocks[0] = malloc(LARGE);
    free(blocks[0]);
    free(fill(blocks));
    free_all(blocks);
    return NULL;
}

static void the_top_of_a_threads_heap_goes_by_itself(void **state)
{
    (void)state;
    struct heap heap = {0};
    pthread_t thread;
    if (!PRELOAD_WORKS)
        skip();
    heap_trim(&heap);
    assert_false(heap_is_slack(&heap));
    assert_int_equal(pthread_create(&thread, NULL, have_peak, early), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(heap_is_slack(&heap));
}

int main(void)
{
    heap_keep_little();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_freed_during_a_trim_goes_with_the_next),
        cmocka_unit_test(the_top_of_a_threads_heap_goes_by_itself),
    };
    return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
