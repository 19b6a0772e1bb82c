/* settings of tensord-follow: what belongs together is checked, and each fault is told. */
#include "server/follow/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static char told_text[ERROR_MESSAGE_MAX];

static void told(void *context, const struct error *fault)
{
    (void)context;
    snprintf(told_text, sizeof told_text, "%s", fault->message);
}

static bool load(struct settings *settings, const char *first, const char *second)
{
    char *arguments[] = {(char *)first, (char *)second, NULL}, *environment[] = {NULL};
    struct config_sources sources = {NULL, environment, arguments};
    *told_text = '\0';
    return settings_load(settings, &sources, told, NULL);
}

static void the_source_is_the_stream_unless_it_is_named(void **state)
{
    struct settings settings;
    (void)state;
    assert_true(load(&settings, NULL, NULL));
    assert_string_equal(settings_source(&settings), "updates");
    assert_true(load(&settings, "--stream=a:b", "--source=log"));
    assert_string_equal(settings_source(&settings), "log");
}

static void what_does_not_fit_is_told(void **state)
{
    static const struct {
        const char *first, *second, *part;
    } rows[] = {
        {"--stream=a:b", NULL, "source (empty: as stream)"},
        {"--stream=", "--source=log", "stream must not be empty"},
        {"--server=127.0.0.1:80", NULL, "server must begin"},
        {"--redis=http://a", NULL, "redis must begin"},
        {"--server_cert=/a", NULL, "server_cert and server_key"},
        {"--redis_key=/a", NULL, "redis_cert and redis_key"},
        {"--redis_user=u", NULL, "redis_user needs"},
        {"--least_pause=2s", "--most_pause=1s", "most_pause must not"},
        {"--batch=0", NULL, "batch"},
        {"--removed=maybe", NULL, "removed"},
    };
    struct settings settings;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_false(load(&settings, rows[i].first, rows[i].second));
        assert_non_null(strstr(told_text, rows[i].part));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_source_is_the_stream_unless_it_is_named),
        cmocka_unit_test(what_does_not_fit_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
