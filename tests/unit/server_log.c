/* log: JSON lines through a ring that never blocks who logs. */
#include "server/log/log.h"

#include "server/base/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static struct error error;

/* Reads everything that was written to a pipe whose writing end is closed. */
static char *read_all(int fd)
{
    size_t size = 0, capacity = 1 << 22;
    char *text = malloc(capacity);
    for (ssize_t n; (n = read(fd, text + size, capacity - size - 1)) > 0;)
        size += (size_t)n;
    text[size] = '\0';
    return text;
}

static void open_log(struct log *log, int ends[2], size_t capacity)
{
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(log_init(log, ends[1], capacity, &error), ERROR_NONE);
}

static char *close_log(struct log *log, int ends[2])
{
    log_release(log);
    close(ends[1]);
    char *text = read_all(ends[0]);
    close(ends[0]);
    return text;
}

static void a_line_is_an_object_with_time_level_and_message(void **state)
{
    struct log log;
    int ends[2];
    (void)state;
    open_log(&log, ends, 65536);
    log_say(&log, LOG_INFO, "listening", "address", "127.0.0.1:8080");
    char *text = close_log(&log, ends);
    assert_int_equal(strncmp(text, "{\"ts\":\"2", 8), 0);
    assert_non_null(strstr(text, "Z\",\"level\":\"info\",\"msg\":\"listening\","
                                 "\"address\":\"127.0.0.1:8080\"}\n"));
    free(text);
}

static void strings_are_escaped(void **state)
{
    struct log log;
    int ends[2];
    (void)state;
    open_log(&log, ends, 65536);
    log_say(&log, LOG_INFO, "m", "k", "a\"b\\\nc\x01");
    char *text = close_log(&log, ends);
    assert_non_null(strstr(text, "\"k\":\"a\\\"b\\\\\\nc\\u0001\"}"));
    free(text);
}

static void lines_below_the_level_are_left_out(void **state)
{
    struct log log;
    int ends[2];
    (void)state;
    open_log(&log, ends, 65536);
    log_set_level(&log, LOG_WARN);
    assert_false(log_wants(&log, LOG_INFO));
    log_say(&log, LOG_INFO, "quiet", NULL, NULL);
    log_say(&log, LOG_ERROR, "loud", NULL, NULL);
    char *text = close_log(&log, ends);
    assert_null(strstr(text, "quiet"));
    assert_non_null(strstr(text, "loud"));
    free(text);
}

static void a_field_that_does_not_fit_is_left_out_whole(void **state)
{
    static char value[LOG_LINE_MAX];
    struct log log;
    struct log_line line;
    int ends[2];
    (void)state;
    memset(value, 'x', sizeof value - 1);
    open_log(&log, ends, 65536);
    log_begin(&line, LOG_INFO, "m");
    log_string(&line, "long", value);
    log_int(&line, "after", 7);
    log_end(&line, &log);
    char *text = close_log(&log, ends);
    assert_null(strstr(text, "long"));
    assert_non_null(strstr(text, "\"msg\":\"m\",\"after\":7}\n"));
    free(text);
}

static void a_stalled_reader_costs_lines_not_time(void **state)
{
    enum { LINES = 20000 };
    struct log log;
    int ends[2];
    (void)state;
    open_log(&log, ends, 16384);
    for (int i = 0; i < LINES; i++) /* far more than pipe and ring hold: would block for ever */
        log_say(&log, LOG_INFO, "line", NULL, NULL);
    assert_true(log_dropped(&log) > 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    uint64_t dropped = log_dropped(&log);
    char *text = malloc(1 << 22);
    size_t size = 0;
    while (!memmem(text, size, "log lines dropped", 17)) { /* reads until the count is told */
        ssize_t n = read(ends[0], text + size, (1 << 22) - size);
        if (n > 0)
            size += (size_t)n;
        else
            usleep(1000);
    }
    assert_true(dropped > 0);
    free(text);
    fcntl(ends[0], F_SETFL, 0);
    free(close_log(&log, ends));
}

static void a_reader_that_is_gone_ends_nothing(void **state)
{
    struct log log;
    int ends[2];
    (void)state;
    open_log(&log, ends, 16384);
    close(ends[0]);
    for (int i = 0; i < 1000; i++)
        log_say(&log, LOG_INFO, "line", NULL, NULL);
    log_release(&log);
    close(ends[1]);
}

/* A file that takes no more, as on a full disk, and then does again. */
static void what_a_full_disk_costs_is_counted_and_no_line_is_mixed(void **state)
{
    enum { ROOM = 1000, LINES = 50 };
    struct rlimit limit;
    struct log log;
    char text[8192] = "";
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const rlim_t no_limit = limit.rlim_cur;
    limit.rlim_cur = ROOM;
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(log_init(&log, fileno(file), 65536, &error), ERROR_NONE);
    for (int i = 0; i < LINES; i++)
        log_say(&log, LOG_INFO, "line", "k", "v");
    while (log_dropped(&log) == 0)
        usleep(1000);
    limit.rlim_cur = no_limit;
    setrlimit(RLIMIT_FSIZE, &limit);
    log_say(&log, LOG_INFO, "again", "k", "v");
    uint64_t dropped = log_dropped(&log);
    log_release(&log);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    int whole = 0, torn = 0;
    for (char *p = text, *end; (end = strchr(p, '\n')); p = end + 1) {
        bool is_whole = strncmp(p, "{\"ts\":", 6) == 0 && end[-1] == '}';
        whole += is_whole;
        torn += !is_whole;
    }
    assert_int_equal(torn, ROOM % (strchr(text, '\n') + 1 - text) != 0);
    assert_non_null(strstr(text, "\"msg\":\"again\""));
    assert_non_null(strstr(text, "\"msg\":\"log lines dropped\",\"count\":"));
    assert_int_equal((uint64_t)whole + dropped, LINES + 2);
}

static void *say_many(void *log)
{
    for (int i = 0; i < 500; i++)
        log_say(log, LOG_INFO, "line", "k", "v");
    return NULL;
}

static void lines_of_many_threads_stay_whole(void **state)
{
    struct log log;
    int ends[2];
    pthread_t threads[4];
    (void)state;
    open_log(&log, ends, 1 << 20);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, say_many, &log);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    char *text = close_log(&log, ends);
    int lines = 0;
    for (char *p = text, *end; (end = strchr(p, '\n')); p = end + 1, lines++) {
        assert_int_equal(strncmp(p, "{\"ts\":", 6), 0);
        assert_int_equal(strncmp(end - 9, ",\"k\":\"v\"}", 9), 0);
    }
    assert_int_equal(lines, 2000);
    free(text);
}

static void times_are_dates(void **state)
{
    static const struct {
        uint64_t seconds;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000000001Z"},
        {951782399, "2000-02-28T23:59:59.000000001Z"},
        {951782400, "2000-02-29T00:00:00.000000001Z"},
        {1709251200, "2024-03-01T00:00:00.000000001Z"},
        {4107542400, "2100-03-01T00:00:00.000000001Z"},
        {1767225599, "2025-12-31T23:59:59.000000001Z"},
    };
    struct clock_text one = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct clock_text other = {0};
        clock_print(&one, rows[i].seconds * 1000000000 + 1);
        clock_print(&other, rows[i].seconds * 1000000000 + 1);
        assert_string_equal(one.text, rows[i].text);
        assert_string_equal(other.text, rows[i].text);
    }
}

static int ignore_signals(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_an_object_with_time_level_and_message),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(lines_below_the_level_are_left_out),
        cmocka_unit_test(a_field_that_does_not_fit_is_left_out_whole),
        cmocka_unit_test(a_stalled_reader_costs_lines_not_time),
        cmocka_unit_test(a_reader_that_is_gone_ends_nothing),
        cmocka_unit_test(what_a_full_disk_costs_is_counted_and_no_line_is_mixed),
        cmocka_unit_test(lines_of_many_threads_stay_whole),
        cmocka_unit_test(times_are_dates),
    };
    return cmocka_run_group_tests(tests, ignore_signals, NULL);
}
