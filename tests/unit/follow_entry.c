/* entry: ids and their order, what is a request, and why another entry is none. */
#include "server/follow/entry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <hiredis/hiredis.h>

static void ids_are_read_and_printed(void **state)
{
    static const char *const wrong[] = {"",
                                        "-",
                                        "1-",
                                        "-1",
                                        "1-2-3",
                                        " 1",
                                        "1 ",
                                        "x",
                                        "18446744073709551616",
                                        "1-18446744073709551616"};
    char text[ENTRY_ID_MAX];
    struct entry_id id;
    (void)state;
    assert_true(entry_id_parse(&id, "18446744073709551615-18446744073709551615"));
    entry_id_print(&id, text);
    assert_string_equal(text, "18446744073709551615-18446744073709551615");
    assert_true(entry_id_parse(&id, "17"));
    entry_id_print(&id, text);
    assert_string_equal(text, "17-0");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(entry_id_parse(&id, wrong[i]));
}

static void ids_are_ordered_by_time_and_then_by_count(void **state)
{
    static const struct entry_id rising[] = {
        {0, 0}, {0, 1},  {0, UINT64_MAX}, {1, 0},
        {2, 0}, {10, 0}, {UINT64_MAX, 0}, {UINT64_MAX, UINT64_MAX}};
    enum { COUNT = sizeof rising / sizeof *rising };
    (void)state;
    for (int a = 0; a < COUNT; a++)
        for (int b = 0; b < COUNT; b++)
            assert_int_equal(entry_id_compare(&rising[a], &rising[b]), (a > b) - (a < b));
}

enum { FIELDS_MAX = 8 };

/* An entry as hiredis hands it over. */
struct reply {
    redisReply texts[FIELDS_MAX], id, fields, whole;
    redisReply *list[FIELDS_MAX], *pair[2];
};

static const char *read_entry(struct entry *entry, struct reply *reply, const char *id,
                              const char *const *texts, bool *has_id)
{
    size_t count = 0;
    memset(reply, 0, sizeof *reply);
    for (; count < FIELDS_MAX && texts[count]; count++) {
        reply->texts[count] = (redisReply){
            .type = REDIS_REPLY_STRING, .str = (char *)texts[count], .len = strlen(texts[count])};
        reply->list[count] = &reply->texts[count];
    }
    reply->id = (redisReply){.type = REDIS_REPLY_STRING, .str = (char *)id, .len = strlen(id)};
    reply->fields =
        (redisReply){.type = REDIS_REPLY_ARRAY, .elements = count, .element = reply->list};
    reply->pair[0] = &reply->id;
    reply->pair[1] = &reply->fields;
    reply->whole = (redisReply){.type = REDIS_REPLY_ARRAY, .elements = 2, .element = reply->pair};
    return entry_read(entry, &reply->whole, has_id);
}

static void an_entry_is_a_request(void **state)
{
    static const char *const texts[] = {"path",         "/v2/x?a=1", "body", "{}",
                                        "content-type", "a/b",       NULL};
    struct entry entry;
    struct reply reply;
    bool has_id;
    (void)state;
    assert_null(read_entry(&entry, &reply, "17-3", texts, &has_id));
    assert_true(has_id);
    assert_true(entry.id.ms == 17 && entry.id.count == 3);
    assert_string_equal(entry.method, "POST");
    assert_string_equal(entry.path, "/v2/x?a=1");
    assert_int_equal(entry.body_size, 2);
    assert_string_equal(entry.headers[ENTRY_TYPE], "a/b");
    assert_null(entry.headers[ENTRY_ENCODING]);
}

static void another_entry_is_told_why_it_is_none(void **state)
{
    static const struct {
        const char *texts[FIELDS_MAX + 1], *part;
    } rows[] = {
        {{NULL}, "no path"},
        {{"path", ""}, "begin with /v2/"},
        {{"path", "/v2/a b"}, "begin with /v2/"},
        {{"path", "/v2/a\r\nX: y"}, "begin with /v2/"},
        {{"path", "/v2/a#b"}, "begin with /v2/"},
        {{"path", "/metrics"}, "begin with /v2/"},
        {{"path", "/v2/a?ttl=1"}, "ttl"},
        {{"path", "/v2/a?b=1&ttl=1"}, "ttl"},
        {{"path", "/v2/a", "path", "/v2/a"}, "path stands there twice"},
        {{"path", "/v2/a", "method", "GET"}, "method is not"},
        {{"path", "/v2/a", "method", "PUT", "method", "PUT"}, "method stands there twice"},
        {{"path", "/v2/a", "body", "", "body", ""}, "body stands there twice"},
        {{"path", "/v2/a", "content-type", "a", "content-type", "a"}, "header stands there twice"},
        {{"path", "/v2/a", "content-type", "a\nX: y"}, "a header is empty"},
        {{"path", "/v2/a", "authorization", "x"}, "field other than"},
    };
    struct entry entry;
    struct reply reply;
    bool has_id;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *why = read_entry(&entry, &reply, "1-1", rows[i].texts, &has_id);
        assert_true(has_id);
        assert_non_null(why);
        assert_non_null(strstr(why, rows[i].part));
    }
}

static void what_has_no_id_or_half_a_field_is_no_entry(void **state)
{
    static const char *const whole[] = {"path", "/v2/a", NULL}, *const half[] = {"path", NULL};
    struct entry entry;
    struct reply reply;
    bool has_id = true;
    (void)state;
    assert_non_null(read_entry(&entry, &reply, "x", whole, &has_id));
    assert_false(has_id);
    assert_non_null(read_entry(&entry, &reply, "1-1", half, &has_id));
    assert_false(has_id);
    redisReply nil = {.type = REDIS_REPLY_NIL};
    assert_non_null(entry_read(&entry, &nil, &has_id));
    assert_false(has_id);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_read_and_printed),
        cmocka_unit_test(ids_are_ordered_by_time_and_then_by_count),
        cmocka_unit_test(an_entry_is_a_request),
        cmocka_unit_test(another_entry_is_told_why_it_is_none),
        cmocka_unit_test(what_has_no_id_or_half_a_field_is_no_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
