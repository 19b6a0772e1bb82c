#include "tests/support/proto/number_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct number_run read_text(enum dtype dtype, const char *text, void *out, int64_t most)
{
    return number_read(dtype, text, text + strlen(text), out, most);
}

void read_one(enum dtype dtype, const char *text, void *out)
{
    struct number_run run = read_text(dtype, text, out, 1);
    if (run.stop != NUMBER_END || run.count != 1 || *run.at != '\0')
        fail_msg("\"%s\" as %s: stop %d after %d bytes", text, dtype_name(dtype), run.stop,
                 (int)(run.at - text));
}

const char *print_one(enum dtype dtype, const void *element)
{
    static char text[64];
    char *end = text;
    assert_int_equal(number_print(dtype, element, 1, &end), 1);
    assert_true((size_t)(end - text) <= number_text_max(dtype));
    assert_int_equal(end[-1], ',');
    end[-1] = '\0';
    return text;
}
