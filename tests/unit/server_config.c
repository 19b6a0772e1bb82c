/* config: one table, four sources, and refusals that say what is allowed. */
#include "server/config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct config config;
static struct error error;

static uint64_t number(const char *name)
{
    const struct setting *s = setting_find(name);
    return *(config_number *)((char *)&config + s->offset);
}

static void assert_set(const char *name, const char *value, uint64_t expected)
{
    assert_int_equal(config_set(&config, name, value, &error), ERROR_NONE);
    assert_int_equal(number(name), expected);
}

static void assert_refused(const char *name, const char *value, const char *sentence)
{
    config_init(&config);
    assert_int_equal(config_set(&config, name, value, &error), ERROR_INVALID_PARAMETER);
    if (!strstr(error.message, sentence))
        fail_msg("'%s' lacks '%s'", error.message, sentence);
}

static enum error_code load(const char *text, char **environment, char **argv)
{
    static char path[] = "/tmp/server_config.XXXXXX";
    static char *nothing[] = {NULL};
    static char *program[] = {"tensord", NULL};
    struct command command;
    enum error_code code =
        command_parse(&command, argv ? argv : program, environment ? environment : nothing, &error);
    if (code != ERROR_NONE)
        return code;
    if (text) {
        strcpy(path + strlen(path) - 6, "XXXXXX");
        int fd = mkstemp(path);
        assert_int_equal(write(fd, text, strlen(text)), strlen(text));
        close(fd);
        command.file = path;
    }
    code = config_load(&config, &command, &error);
    if (text)
        unlink(path);
    return code;
}

static void defaults_are_the_documented_ones(void **state)
{
    (void)state;
    config_init(&config);
    assert_string_equal(config.listen, "127.0.0.1:8080");
    assert_int_equal(config.max_body, GIB);
    assert_int_equal(config.max_json, 64 * MIB);
    assert_int_equal(config.max_output, GIB);
    assert_int_equal(config.memory, 0);
    assert_int_equal(config.queue_jobs, 256);
    assert_int_equal(config.request_timeout, 30 * SEC);
    assert_int_equal(config.idle_timeout, 75 * SEC);
}

static void every_default_is_allowed_and_reads_back(void **state)
{
    char text[CONFIG_VALUE_MAX];
    (void)state;
    config_init(&config);
    for (int i = 0; i < setting_count(); i++) {
        config_value_print(&config, setting_at(i), text);
        assert_string_equal(text, setting_at(i)->standard);
    }
}

static void sizes_take_units(void **state)
{
    (void)state;
    assert_set("max_body", "4096", 4096);
    assert_set("max_body", "16K", 16 * KIB);
    assert_set("max_body", "3M", 3 * MIB);
    assert_set("max_body", "2G", 2 * GIB);
    assert_set("memory", "auto", 0);
}

static void times_take_units(void **state)
{
    (void)state;
    assert_set("request_timeout", "250ms", 250 * MSEC);
    assert_set("request_timeout", "7s", 7 * SEC);
    assert_set("request_timeout", "2m", 120 * SEC);
    assert_set("drain_delay", "0", 0);
}

static void words_and_booleans(void **state)
{
    (void)state;
    assert_set("log_level", "warn", 2);
    assert_set("log_requests", "false", 0);
    assert_set("log-requests", "true", 1);
}

static void bad_values_say_what_is_allowed(void **state)
{
    (void)state;
    assert_refused("max_body", "12X", "from 1K to 1T");
    assert_refused("max_body", "", "max_body = ");
    assert_refused("max_body", "-1", "from 1K to 1T");
    assert_refused("max_body", "1", "from 1K to 1T");
    assert_refused("max_body", "99999999999999999999999", "from 1K to 1T");
    assert_refused("max_body", "20000000000000G", "from 1K to 1T");
    assert_refused("max_output", "2G", "to 2147483647");
    assert_refused("request_timeout", "30", "a number with ms, s, m or h");
    assert_refused("workers", "0", "or auto");
    assert_refused("log_level", "loud", "debug, info, warn, error");
    assert_refused("log_requests", "yes", "false, true");
    assert_refused("max_bodies", "1", "there is no setting max_bodies");
}

static void a_text_that_is_too_long_is_refused(void **state)
{
    char text[CONFIG_TEXT_MAX + 1];
    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_refused("listen", text, "at most 511");
}

static void later_sources_win(void **state)
{
    char *environment[] = {"HOME=/", "TENSORD_QUEUE_JOBS=3", "TENSORD_WORKERS=3", NULL};
    char *argv[] = {"tensord", "--workers=4", NULL};
    (void)state;
    assert_int_equal(load("max_json = 2M\nqueue_jobs = 2\nworkers = 2\n", environment, argv),
                     ERROR_NONE);
    assert_int_equal(config.max_json, 2 * MIB);
    assert_int_equal(config.queue_jobs, 3);
    assert_int_equal(config.workers, 4);
    assert_int_equal(config.max_body, GIB);
}

static void a_file_error_names_the_line(void **state)
{
    (void)state;
    assert_int_equal(load("# a comment\n\nmax_body = 1G\nmax_json = lots\n", NULL, NULL),
                     ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "line 4: max_json = lots"));
    assert_int_equal(load("no_such = 1\n", NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "line 1: there is no setting no_such"));
    assert_int_equal(load("[other]\nworkers = 1\n", NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "section [other]"));
    assert_int_equal(load("nonsense\n", NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "line 1"));
}

static void a_missing_file_is_an_error(void **state)
{
    char *argv[] = {"tensord", "--config=/no/such/file", NULL};
    (void)state;
    assert_int_equal(load(NULL, NULL, argv), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "cannot read /no/such/file"));
}

static void what_is_no_file_is_an_error(void **state)
{
    char *argv[] = {"tensord", "--config=/tmp", NULL};
    (void)state;
    assert_int_equal(load(NULL, NULL, argv), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "cannot read /tmp: Is a directory"));
}

/* The rest would be one more value of the same setting, and the only one that counts. */
static void a_line_that_is_too_long_is_an_error(void **state)
{
    char text[400] = "workers = 2\ntrusted_proxies = 10.0.0.0/8,", *rest = text + strlen(text);
    (void)state;
    memset(rest, ' ', 300);
    memcpy(rest + 290, "::1\n", 5);
    assert_int_equal(load(text, NULL, NULL), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "line 2: it is too long"));
}

static void the_longest_line_is_read(void **state)
{
    char text[400] = "base_path = ";
    (void)state;
    memset(text + 12, 'x', 198 - 12);
    strcpy(text + 198, "\nworkers = 2\n");
    assert_int_equal(load(text, NULL, NULL), ERROR_NONE);
    assert_int_equal(strlen(config.base_path), 198 - 12);
    assert_int_equal(config.workers, 2);
}

static void an_unknown_variable_stops_the_start(void **state)
{
    char *environment[] = {"TENSORD_SPEED=11", NULL};
    (void)state;
    assert_int_equal(load(NULL, environment, NULL), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "environment TENSORD_SPEED: there is no setting speed"));
}

static void variables_of_kubernetes_are_left_alone(void **state)
{
    char *environment[] = {"TENSORD_PORT=tcp://10.0.0.1:80", "TENSORD_SERVICE_HOST=10.0.0.1",
                           "TENSORD_PORT_80_TCP=tcp://10.0.0.1:80", NULL};
    (void)state;
    assert_int_equal(load(NULL, environment, NULL), ERROR_NONE);
}

static void arguments_are_verbs_or_settings(void **state)
{
    static const struct {
        char *argument;
        enum command_verb verb;
    } rows[] = {{"--help", COMMAND_HELP},
                {"--version", COMMAND_VERSION},
                {"--print-config", COMMAND_PRINT_CONFIG},
                {"--check-config", COMMAND_CHECK_CONFIG},
                {"--health", COMMAND_HEALTH},
                {"--workers=1", COMMAND_SERVE}};
    char *nothing[] = {NULL};
    struct command command;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *argv[] = {"tensord", rows[i].argument, NULL};
        assert_int_equal(command_parse(&command, argv, nothing, &error), ERROR_NONE);
        assert_int_equal(command.verb, rows[i].verb);
    }
    char *wrong[] = {"tensord", "start", NULL};
    assert_int_equal(command_parse(&command, wrong, nothing, &error), ERROR_INVALID_PARAMETER);
    char *valueless[] = {"tensord", "--workers", NULL};
    assert_int_equal(command_parse(&command, valueless, nothing, &error), ERROR_INVALID_PARAMETER);
}

static void note_ignored(void *context, const struct setting *setting)
{
    strcat(context, setting->name);
    strcat(context, " ");
}

static void reload_takes_what_is_reloadable(void **state)
{
    struct config next;
    char ignored[200] = "";
    (void)state;
    config_init(&config);
    config_init(&next);
    next.max_body = 5 * MIB;
    next.workers = 7;
    strcpy(next.listen, "127.0.0.1:1");
    config_reload(&config, &next, note_ignored, ignored);
    assert_int_equal(config.max_body, 5 * MIB);
    assert_int_equal(config.workers, 0);
    assert_string_equal(ignored, "listen workers ");
}

static char *printed(void)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    config_print(&config, f);
    fclose(f);
    return text;
}

static void what_is_printed_can_be_read(void **state)
{
    (void)state;
    config_init(&config);
    config.queue_jobs = 17;
    config.request_timeout = 1500 * MSEC;
    strcpy(config.listen, "[::1]:9000,unix:/run/t.sock");
    char *text = printed();
    assert_int_equal(load(text, NULL, NULL), ERROR_NONE);
    free(text);
    assert_int_equal(config.queue_jobs, 17);
    assert_int_equal(config.request_timeout, 1500 * MSEC);
    assert_string_equal(config.listen, "[::1]:9000,unix:/run/t.sock");
}

static void the_sample_file_is_what_the_table_prints(void **state)
{
    char sample[64 * 1024];
    (void)state;
    FILE *f = fopen("config/tensord.conf", "r");
    assert_non_null(f);
    sample[fread(sample, 1, sizeof sample - 1, f)] = '\0';
    fclose(f);
    config_init(&config);
    char *text = printed();
    assert_string_equal(sample, text); /* else: tensord --print-config > config/tensord.conf */
    free(text);
}

static void help_lists_every_setting(void **state)
{
    char *text;
    size_t size;
    (void)state;
    FILE *f = open_memstream(&text, &size);
    config_help(f);
    fclose(f);
    for (int i = 0; i < setting_count(); i++)
        assert_non_null(strstr(text, setting_at(i)->name));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_documented_ones),
        cmocka_unit_test(every_default_is_allowed_and_reads_back),
        cmocka_unit_test(sizes_take_units),
        cmocka_unit_test(times_take_units),
        cmocka_unit_test(words_and_booleans),
        cmocka_unit_test(bad_values_say_what_is_allowed),
        cmocka_unit_test(a_text_that_is_too_long_is_refused),
        cmocka_unit_test(later_sources_win),
        cmocka_unit_test(a_file_error_names_the_line),
        cmocka_unit_test(a_missing_file_is_an_error),
        cmocka_unit_test(what_is_no_file_is_an_error),
        cmocka_unit_test(a_line_that_is_too_long_is_an_error),
        cmocka_unit_test(the_longest_line_is_read),
        cmocka_unit_test(an_unknown_variable_stops_the_start),
        cmocka_unit_test(variables_of_kubernetes_are_left_alone),
        cmocka_unit_test(arguments_are_verbs_or_settings),
        cmocka_unit_test(reload_takes_what_is_reloadable),
        cmocka_unit_test(what_is_printed_can_be_read),
        cmocka_unit_test(the_sample_file_is_what_the_table_prints),
        cmocka_unit_test(help_lists_every_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
