/* hello: which alert a ClientHello deserves, and that none is read beyond its end. */
#include "server/net/hello.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct suites ours = {.list = {0x1301, 0xc02f}, .count = 2};

#define HEAD(VERSION) VERSION "0123456789abcdef0123456789abcdef\0"
#define SUITES        "\0\4\x13\1\0\xff\1\0"
#define VERSIONS      "\0\x2b\0\5\4\x7f\x1c\3\4"
#define H2            "\0\x10\0\5\0\3\2h2"
#define HTTP_1_1      "\0\x10\0\x0e\0\x0c\2h2\x8http/1.1"

struct row {
    const char *bytes;
    size_t size;
    int alert;
};

#define ROW(BYTES, ALERT)                                                                          \
    {                                                                                              \
        BYTES, sizeof(BYTES) - 1, ALERT                                                            \
    }

static void alerts(void **state)
{
    static const struct row rows[] = {
        ROW(HEAD("\3\3") SUITES, -1),
        ROW(HEAD("\3\3") SUITES "\0\x9" VERSIONS, -1),
        ROW(HEAD("\3\1") SUITES "\0\x9" VERSIONS, -1),
        ROW(HEAD("\3\2") SUITES, 70),
        ROW(HEAD("\3\3") SUITES "\0\x7\0\x2b\0\3\2\3\2", 70),
        ROW(HEAD("\3\3") "\0\2\0\x2f\1\0", 40),
        ROW(HEAD("\3\3") SUITES "\0\x9" H2, 120),
        ROW(HEAD("\3\3") SUITES "\0\x12" HTTP_1_1, -1),
        ROW(HEAD("\3\3") SUITES "\0\x12" H2 VERSIONS, 120),
        ROW(HEAD("\3\3") SUITES "\0\x20" VERSIONS, 50),
        ROW(HEAD("\3\3") SUITES "\0\4\0\x10\0\5", 50),
        ROW(HEAD("\3\3") "\xff\xff\x13\1", 50),
        ROW("\3\3", 50),
        ROW("", 50),
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int alert = hello_alert((const uint8_t *)rows[i].bytes, rows[i].size, &ours);
        if (alert != rows[i].alert)
            fail_msg("row %zu: %d, expected %d", i, alert, rows[i].alert);
    }
}

/* Each piece lies in memory of just its size, so that a sanitizer sees a read too far. */
static void any_piece_of_it(void **state)
{
    static const char whole[] = HEAD("\3\3") SUITES "\0\x1b" HTTP_1_1 VERSIONS;
    (void)state;
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        uint8_t *piece = malloc(size + 1);
        memcpy(piece + 1, whole, size);
        int alert = hello_alert(piece + 1, size, &ours);
        assert_true(alert == 50 || (alert == -1 && size == sizeof(HEAD("\3\3") SUITES) - 1));
        free(piece);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alerts),
        cmocka_unit_test(any_piece_of_it),
    };
    return cmocka_run_group_tests_name("hello", tests, NULL, NULL);
}
