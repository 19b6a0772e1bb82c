/* infer_test: an `infer` of its own for each test of a cmocka program. Brings cmocka along. */
#ifndef TESTS_SUPPORT_PROTO_INFER_TEST_H
#define TESTS_SUPPORT_PROTO_INFER_TEST_H

#include "tests/support/proto/infer.h"
#include "tests/support/proto/quote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct infer f;

/* For cmocka_unit_test_setup_teardown. */
static int setup(void **state)
{
    (void)state;
    infer_init(&f);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    infer_release(&f);
    return 0;
}

#endif
