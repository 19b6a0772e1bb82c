/* standing: the follower reads its position as JSON, whatever the blanks, the order and the names.
 */
#include "server/follow/standing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_position_is_found(void **state)
{
    static const struct {
        const char *answer;
        struct entry_id id;
    } rows[] = {
        {"{\"positions\":{\"log\":\"17-3\"},\"tensors\":[]}", {17, 3}},
        {"{ \"positions\" : { \"log\" : \"17-3\" } }", {17, 3}},
        {"{\"tensors\":[{\"positions\":{\"log\":\"9-9\"}}],\"positions\":{\"log\":\"17-3\"}}",
         {17, 3}},
        {"{\"positions\":{\"a\":\"1-0\",\"l\\u006fg\":\"17\"}}", {17, 0}},
        {"{\"positions\":{}}", {0, 0}},
        {"{\"positions\":{\"Log\":\"17-3\"}}", {0, 0}},
        {"{\"positions\":{\"a\":\"1-0\"},\"tensors\":[{\"log\":\"17-3\"}]}", {0, 0}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct entry_id id = {1, 1};
        assert_true(standing_read(&id, rows[i].answer, "log"));
        assert_int_equal(entry_id_compare(&id, &rows[i].id), 0);
    }
}

static void an_answer_without_a_position_is_none(void **state)
{
    static const char *const answers[] = {
        "",
        "null",
        "[]",
        "{}",
        "{\"positions\":{\"log\":\"17-3\"}",
        "{\"positions\":[]}",
        "{\"positions\":{\"log\":17}}",
        "{\"positions\":{\"log\":\"\"}}",
        "{\"positions\":{\"log\":\"17-3x\"}}",
        "{\"error\":\"\\\"positions\\\":{\\\"log\\\":\\\"17-3\\\"}\"}",
        "{\"tensors\":[{\"positions\":{\"log\":\"9-9\"}}]}",
    };
    struct entry_id id;
    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        assert_false(standing_read(&id, answers[i], "log"));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_position_is_found),
        cmocka_unit_test(an_answer_without_a_position_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
