/* command: arguments are verbs or settings, and one that is neither is told what it may be. */
#include "server/life/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct command command;
static struct error error;

static enum error_code parse(char *first, char *second, char *variable)
{
    char *arguments[] = {first, second, NULL}, *environment[] = {variable, NULL};
    return command_parse(&command, arguments, environment, &error);
}

static void arguments_are_verbs_or_settings(void **state)
{
    static const struct {
        char *argument;
        enum command_verb verb;
    } rows[] = {{"--help", COMMAND_HELP},
                {"-h", COMMAND_HELP},
                {"--version", COMMAND_VERSION},
                {"--print-config", COMMAND_PRINT_CONFIG},
                {"--print-machine", COMMAND_PRINT_MACHINE},
                {"--check-config", COMMAND_CHECK_CONFIG},
                {"--health", COMMAND_HEALTH},
                {"--workers=1", COMMAND_SERVE},
                {NULL, COMMAND_SERVE}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(parse(rows[i].argument, NULL, NULL), ERROR_NONE);
        assert_int_equal(command.verb, rows[i].verb);
        assert_null(command.sources.file);
    }
}

static void the_file_is_the_commands_else_the_environments(void **state)
{
    (void)state;
    assert_int_equal(parse(NULL, NULL, "TENSORD_CONFIG=/a"), ERROR_NONE);
    assert_string_equal(command.sources.file, "/a");
    assert_int_equal(parse("--config=/b", "--check-config", "TENSORD_CONFIG=/a"), ERROR_NONE);
    assert_string_equal(command.sources.file, "/b");
    assert_int_equal(command.verb, COMMAND_CHECK_CONFIG);
}

static void what_is_neither_is_refused_with_what_was_meant(void **state)
{
    static const struct {
        char *argument;
        const char *sentence;
    } rows[] = {
        {"start", "argument start: allowed are --name=value"},
        {"workers=1", "argument workers=1: allowed are --name=value"},
        {"-workers=1", "argument -workers=1: allowed are --name=value"},
        {"", "argument : allowed are --name=value"},
        {"--workers", "argument --workers: its value follows a '=', as in --workers=value"},
        {"-workers", "as in --workers=value"},
        {"--config", "as in --config=value"},
        {"--versoin", "argument --versoin: did you mean --version?"},
        {"-help", "argument -help: did you mean --help?"},
        {"--print_config", "did you mean --print-config?"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(parse(rows[i].argument, NULL, NULL), ERROR_INVALID_PARAMETER);
        if (!strstr(error.message, rows[i].sentence))
            fail_msg("'%s' lacks '%s'", error.message, rows[i].sentence);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_verbs_or_settings),
        cmocka_unit_test(the_file_is_the_commands_else_the_environments),
        cmocka_unit_test(what_is_neither_is_refused_with_what_was_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
