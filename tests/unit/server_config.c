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

static char told[4096]; /* the faults, a line each */
static int faults;

static void note_fault(void *context, const struct error *fault)
{
    (void)context;
    assert_int_equal(fault->code, ERROR_INVALID_PARAMETER);
    faults++;
    strcat(told, fault->message);
    strcat(told, "\n");
}

/* Loads `text` as a file, if there is one; true when nothing was wrong. */
static bool load(const char *text, char **environment, char **arguments)
{
    char path[] = "/tmp/server_config.XXXXXX";
    static char *nothing[] = {NULL};
    struct config_sources sources = {.environment = environment ? environment : nothing,
                                     .arguments = arguments ? arguments : nothing};
    faults = 0;
    *told = '\0';
    if (text) {
        int fd = mkstemp(path);
        assert_int_equal(write(fd, text, strlen(text)), strlen(text));
        close(fd);
        sources.file = path;
    }
    bool is_right = config_load(&config, &sources, note_fault, NULL);
    if (text)
        unlink(path);
    assert_int_equal(is_right, faults == 0);
    return is_right;
}

static void assert_told(int count, const char *sentence)
{
    assert_int_equal(faults, count);
    if (!strstr(told, sentence))
        fail_msg("'%s' lacks '%s'", told, sentence);
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

static void a_name_within_two_edits_is_asked_about(void **state)
{
    (void)state;
    assert_refused("max_bdy", "1", "there is no setting max_bdy, did you mean max_body?");
    assert_refused("max-bdoy", "1", "there is no setting max-bdoy, did you mean max_body?");
    assert_refused("lsiten", "1", "did you mean listen?");
    assert_refused("speed", "1", "there is no setting speed (tensord --help lists them)");
}

static void later_sources_win(void **state)
{
    char *environment[] = {"HOME=/", "TENSORD_QUEUE_JOBS=3", "TENSORD_WORKERS=3", NULL};
    char *arguments[] = {"--workers=4", NULL};
    (void)state;
    assert_true(load("max_json = 2M\nqueue_jobs = 2\nworkers = 2\n", environment, arguments));
    assert_int_equal(config.max_json, 2 * MIB);
    assert_int_equal(config.queue_jobs, 3);
    assert_int_equal(config.workers, 4);
    assert_int_equal(config.max_body, GIB);
}

static void a_file_error_names_the_line(void **state)
{
    (void)state;
    assert_false(load("# a comment\n\nmax_body = 1G\nmax_json = lots\n", NULL, NULL));
    assert_told(1, "line 4: max_json = lots");
    assert_false(load("no_such = 1\n", NULL, NULL));
    assert_told(1, "line 1: there is no setting no_such");
    assert_false(load("[other]\nworkers = 1\n", NULL, NULL));
    assert_told(1, "section [other]");
    assert_false(load("nonsense\n", NULL, NULL));
    assert_told(1, "line 1: allowed are name = value and # comments");
}

static void every_fault_of_every_source_is_told(void **state)
{
    char *environment[] = {"TENSORD_SPEED=11", "TENSORD_CORES=none", NULL};
    char *arguments[] = {"--wrkers=1", "--cores=0", NULL};
    (void)state;
    assert_false(load("max_bdy = 3M\n"
                      "nonsense\n"
                      "workers = 2\n"
                      "[unclosed\n"
                      "[other]\n"
                      "a = 1\n"
                      "b = 2\n"
                      "[tensord]\n"
                      "max_json = lots\n"
                      "last",
                      environment, arguments));
    static const char *const sentences[] = {
        "line 1: there is no setting max_bdy, did you mean max_body?",
        "line 2: allowed are name = value and # comments",
        "line 4: allowed are name = value and # comments",
        "line 6: section [other]: allowed is no section, or [tensord]",
        "line 9: max_json = lots: allowed is",
        "line 10: allowed are name = value and # comments",
        "environment TENSORD_SPEED: there is no setting speed",
        "environment TENSORD_CORES: cores = none: allowed is",
        "\nthere is no setting wrkers, did you mean workers?",
        "\ncores = 0: allowed is",
    };
    int count = sizeof sentences / sizeof *sentences;
    for (int i = 0; i < count; i++)
        assert_told(count, sentences[i]);
}

/* libinih takes an indented line as one more value of the setting above. */
static void indented_lines_are_settings_of_their_own(void **state)
{
    (void)state;
    assert_true(load("\xEF\xBB\xBFmax_body = 2G\n  workers = 2\n\t# a comment\n", NULL, NULL));
    assert_int_equal(config.max_body, 2 * GIB);
    assert_int_equal(config.workers, 2);
    assert_false(load("trusted_proxies = 10.0.0.0/8,\n    ::1\n", NULL, NULL));
    assert_told(1, "line 2: there is no setting");
}

static void a_missing_file_is_an_error(void **state)
{
    char *nothing[] = {NULL};
    struct config_sources sources = {"/no/such/file", nothing, nothing};
    (void)state;
    faults = 0;
    *told = '\0';
    assert_false(config_load(&config, &sources, note_fault, NULL));
    assert_told(1, "cannot read /no/such/file");
}

static void what_is_no_file_is_an_error(void **state)
{
    char *nothing[] = {NULL};
    struct config_sources sources = {"/tmp", nothing, nothing};
    (void)state;
    faults = 0;
    *told = '\0';
    assert_false(config_load(&config, &sources, note_fault, NULL));
    assert_told(1, "cannot read /tmp: Is a directory");
}

/* The rest of such a line would be read as one more value of its setting, the only one that
 * counts. */
static void a_line_that_is_too_long_is_an_error(void **state)
{
    char text[400] = "workers = 2\ntrusted_proxies = 10.0.0.0/8,", *rest = text + strlen(text);
    (void)state;
    memset(rest, ' ', 300);
    memcpy(rest + 290, "::1\nworkers = 0\n", 17);
    assert_false(load(text, NULL, NULL));
    assert_told(2, "line 2: it is too long; a file's lines have at most 198 bytes");
    assert_told(2, "line 3: workers = 0");
}

static void the_longest_line_is_read(void **state)
{
    char text[400] = "base_path = ";
    (void)state;
    memset(text + 12, 'x', 198 - 12);
    strcpy(text + 198, "\nworkers = 2\n");
    assert_true(load(text, NULL, NULL));
    assert_int_equal(strlen(config.base_path), 198 - 12);
    assert_int_equal(config.workers, 2);
}

static void an_unknown_variable_stops_the_start(void **state)
{
    static const struct {
        char *variable;
        const char *sentence;
    } rows[] = {
        {"TENSORD_SPEED=11", "environment TENSORD_SPEED: there is no setting speed"},
        {"TENSORD_MAX_BDY=1G", "environment TENSORD_MAX_BDY: there is no setting max_bdy, did you"},
        {"TENSORD_PORT=8080", "environment TENSORD_PORT: there is no setting port"},
        {"TENSORD_PORT_X=1", "there is no setting port_x"},
        {"TENSORD_PORT_80=1", "there is no setting port_80"},
        {"TENSORD_PORT_80_TCPS=1", "there is no setting port_80_tcps"},
        {"TENSORD_SERVICE=1", "there is no setting service"},
        {"TENSORD_CONFIGS=x", "there is no setting configs"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *environment[] = {rows[i].variable, NULL};
        assert_false(load(NULL, environment, NULL));
        assert_told(1, rows[i].sentence);
    }
}

/* What Kubernetes puts into every pod beside Services that are called tensord, tensord-canary and
 * tensord-port-svc. */
static void variables_of_kubernetes_are_left_alone(void **state)
{
    char *environment[] = {"TENSORD_PORT=tcp://10.0.0.1:80",
                           "TENSORD_SERVICE_HOST=10.0.0.1",
                           "TENSORD_SERVICE_PORT=80",
                           "TENSORD_SERVICE_PORT_HTTP=80",
                           "TENSORD_PORT_80_TCP=tcp://10.0.0.1:80",
                           "TENSORD_CANARY_PORT=tcp://10.0.0.1:80",
                           "TENSORD_CANARY_SERVICE_HOST=fd00::1",
                           "TENSORD_CANARY_SERVICE_PORT=80",
                           "TENSORD_CANARY_SERVICE_PORT_GRPC_WEB=81",
                           "TENSORD_CANARY_PORT_80_TCP=tcp://10.0.0.1:80",
                           "TENSORD_CANARY_PORT_80_TCP_PROTO=tcp",
                           "TENSORD_CANARY_PORT_80_TCP_PORT=80",
                           "TENSORD_CANARY_PORT_80_TCP_ADDR=10.0.0.1",
                           "TENSORD_CANARY_PORT_53_UDP_ADDR=10.0.0.1",
                           "TENSORD_CANARY_PORT_9_SCTP=sctp://10.0.0.1:9",
                           "TENSORD_PORT_SVC_PORT=udp://[fd00::1]:80",
                           "TENSORD_PORT_SVC_PORT_80_TCP_PORT=80",
                           NULL};
    (void)state;
    load(NULL, environment, NULL);
    assert_string_equal(told, "");
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
    assert_true(load(text, NULL, NULL));
    free(text);
    assert_int_equal(config.queue_jobs, 17);
    assert_int_equal(config.request_timeout, 1500 * MSEC);
    assert_string_equal(config.listen, "[::1]:9000,unix:/run/t.sock");
}

static void what_differs_from_the_defaults_is_printed(void **state)
{
    char *text;
    size_t size;
    (void)state;
    for (int changed = 0; changed < 2; changed++) {
        FILE *f = open_memstream(&text, &size);
        config_init(&config);
        config.workers = changed ? 3 : 0;
        strcpy(config.listen, changed ? "unix:/run/t.sock" : "127.0.0.1:8080");
        config_print_changes(&config, f);
        fclose(f);
        assert_string_equal(text, changed ? "listen = unix:/run/t.sock\nworkers = 3\n"
                                          : "# every setting is at its default\n");
        free(text);
    }
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
        cmocka_unit_test(a_name_within_two_edits_is_asked_about),
        cmocka_unit_test(later_sources_win),
        cmocka_unit_test(a_file_error_names_the_line),
        cmocka_unit_test(every_fault_of_every_source_is_told),
        cmocka_unit_test(indented_lines_are_settings_of_their_own),
        cmocka_unit_test(a_missing_file_is_an_error),
        cmocka_unit_test(what_is_no_file_is_an_error),
        cmocka_unit_test(a_line_that_is_too_long_is_an_error),
        cmocka_unit_test(the_longest_line_is_read),
        cmocka_unit_test(an_unknown_variable_stops_the_start),
        cmocka_unit_test(variables_of_kubernetes_are_left_alone),
        cmocka_unit_test(reload_takes_what_is_reloadable),
        cmocka_unit_test(what_is_printed_can_be_read),
        cmocka_unit_test(what_differs_from_the_defaults_is_printed),
        cmocka_unit_test(the_sample_file_is_what_the_table_prints),
        cmocka_unit_test(help_lists_every_setting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
