/* listen: addresses become sockets, or a sentence that says what is allowed. */
#include "server/net/listen.h"
#include "server/net/listen_text.h"
#include "server/net/reach.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct listeners listeners;
static struct error error;

static void port_0_picks_one_and_says_which(void **state)
{
    (void)state;
    assert_int_equal(listeners_open(&listeners, "127.0.0.1:0", &error), ERROR_NONE);
    assert_int_equal(listeners.count, 1);
    assert_int_equal(strncmp(listeners.list[0].address, "127.0.0.1:", 10), 0);
    assert_true(atoi(listeners.list[0].address + 10) > 0);
    listeners_close(&listeners);
}

static void several_addresses_are_taken(void **state)
{
    char path[64], addresses[200];
    (void)state;
    snprintf(path, sizeof path, "/tmp/server_listen.%d", getpid());
    snprintf(addresses, sizeof addresses, "127.0.0.1:0, unix:%s", path);
    assert_int_equal(listeners_open(&listeners, addresses, &error), ERROR_NONE);
    assert_int_equal(listeners.count, 2);
    assert_true(listeners.list[1].is_unix);
    assert_int_equal(access(path, F_OK), 0);
    struct listeners second = {.count = 0};
    snprintf(addresses, sizeof addresses, "unix:%s", path);
    assert_int_equal(listeners_open(&second, addresses, &error), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "another server is there"));
    close(listeners.list[1].fd); /* as after a crash: the file stays */
    listeners.count = 1;
    assert_int_equal(listeners_open(&second, addresses, &error), ERROR_NONE);
    listeners_close(&second);
    assert_int_equal(access(path, F_OK), -1);
    listeners_close(&listeners);
}

static void a_file_in_the_way_is_not_removed(void **state)
{
    char address[80] = "unix:/tmp/server_listen_file.XXXXXX", *path = address + 5;
    (void)state;
    close(mkstemp(path));
    assert_int_equal(listeners_open(&listeners, address, &error), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "no socket"));
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
}

static void some_speak_tls(void **state)
{
    (void)state;
    assert_int_equal(listeners_open(&listeners, "127.0.0.1:0,tls:127.0.0.1:0", &error), ERROR_NONE);
    assert_false(listeners.list[0].is_tls);
    assert_true(listeners.list[1].is_tls);
    assert_int_equal(strncmp(listeners.list[1].address, "tls:127.0.0.1:", 14), 0);
    assert_true(listeners_have(&listeners, true) && listeners_have(&listeners, false));
    listeners_close(&listeners);
    assert_int_equal(listeners_open(&listeners, "127.0.0.1:0", &error), ERROR_NONE);
    assert_false(listeners_have(&listeners, true));
    listeners_close(&listeners);
}

static void what_speaks_tls_is_seen_in_the_setting(void **state)
{
    (void)state;
    assert_true(listen_wants_tls("tls:127.0.0.1:443"));
    assert_true(listen_wants_tls("127.0.0.1:80, tls:[::1]:443"));
    assert_true(listen_wants_tls("unix:/a,tls::443"));
    assert_false(listen_wants_tls("127.0.0.1:80"));
    assert_false(listen_wants_tls("unix:/run/tls:1"));
    assert_false(listen_wants_tls(""));
}

static void who_can_reach_it_is_known(void **state)
{
    (void)state;
    assert_int_equal(listeners_open(&listeners, "127.0.0.1:0,0.0.0.0:0", &error), ERROR_NONE);
    assert_true(listeners.list[0].is_loopback);
    assert_false(listeners.list[1].is_loopback);
    listeners_close(&listeners);
}

static void a_port_alone_is_on_loopback(void **state)
{
    (void)state;
    assert_int_equal(listeners_open(&listeners, "0, tls:0", &error), ERROR_NONE);
    assert_int_equal(strncmp(listeners.list[0].address, "127.0.0.1:", 10), 0);
    assert_int_equal(strncmp(listeners.list[1].address, "tls:127.0.0.1:", 14), 0);
    assert_true(listeners.list[1].is_tls);
    listeners_close(&listeners);
}

/* Connects as health checks do, by the text of a setting. */
static void expect_reached(const char *setting, bool tls)
{
    bool is_tls;
    int fd = reach_first(setting, (struct timeval){.tv_sec = 2}, &is_tls);
    assert_true(fd >= 0);
    assert_int_equal(is_tls, tls);
    close(fd);
}

static void a_listener_is_reached_by_its_setting(void **state)
{
    char path[] = "/tmp/tensord-listen.XXXXXX", setting[2 * LISTENER_NAME_MAX];
    (void)state;
    assert_non_null(mkdtemp(path));
    snprintf(setting, sizeof setting, "127.0.0.1:0, tls:0, unix:%s/socket", path);
    assert_int_equal(listeners_open(&listeners, setting, &error), ERROR_NONE);
    for (int i = 0; i < listeners.count; i++) {
        snprintf(setting, sizeof setting, ", %s,unix:/nowhere", listeners.list[i].address);
        expect_reached(setting, listeners.list[i].is_tls);
    }
    snprintf(setting, sizeof setting, "tls:%s", strrchr(listeners.list[1].address, ':') + 1);
    expect_reached(setting, true);
    listeners_close(&listeners);
    assert_int_equal(rmdir(path), 0);
}

static void nobody_is_reached_where_nobody_listens(void **state)
{
    static const char *const settings[] = {"", ", ", "unix:/nowhere", "127.0.0.1", "tls:[::1:8"};
    bool is_tls;
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_int_equal(reach_first(settings[i], (struct timeval){.tv_sec = 2}, &is_tls), -1);
}

static void a_busy_port_says_how_to_choose_another(void **state)
{
    struct listeners second;
    char *port;
    (void)state;
    assert_int_equal(listeners_open(&listeners, "127.0.0.1:0", &error), ERROR_NONE);
    port = listeners.list[0].address;
    assert_int_equal(listeners_open(&second, port, &error), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "another process listens there; choose another port with "
                                          "--listen=127.0.0.1:9090 (make run "
                                          "LISTEN=127.0.0.1:9090)"));
    listeners_close(&listeners);
}

static void what_cannot_be_is_said(void **state)
{
    static const struct {
        const char *addresses, *sentence;
    } rows[] = {
        {"", "the list is empty"},
        {"localhost", "it has no port"},
        {"localhost:", "it has no port"},
        {"::1:80", "it has no port"},
        {"127.0.0.1:notaport", "cannot listen on 127.0.0.1:notaport"},
        {"192.0.2.1:80", "cannot listen on 192.0.2.1:80"},
        {"unix:relative", "a path starts with /"},
        {"tls:unix:/tmp/x", "a path needs no TLS"},
        {"tls:", "it has no port"},
        {"9092x", "it has no port"},
        {"127.0.0.1:65536", "cannot listen on 127.0.0.1:65536: a port is at most 65535"},
        {"99999999999999999999999", "a port is at most 65535"},
        {"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0", "cannot listen on 0: 16 addresses are the most"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(listeners_open(&listeners, rows[i].addresses, &error),
                         ERROR_INVALID_PARAMETER);
        if (!strstr(error.message, rows[i].sentence))
            fail_msg("'%s' lacks '%s'", error.message, rows[i].sentence);
        assert_int_equal(listeners.count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(port_0_picks_one_and_says_which),
        cmocka_unit_test(several_addresses_are_taken),
        cmocka_unit_test(a_file_in_the_way_is_not_removed),
        cmocka_unit_test(some_speak_tls),
        cmocka_unit_test(what_speaks_tls_is_seen_in_the_setting),
        cmocka_unit_test(who_can_reach_it_is_known),
        cmocka_unit_test(a_port_alone_is_on_loopback),
        cmocka_unit_test(a_listener_is_reached_by_its_setting),
        cmocka_unit_test(nobody_is_reached_where_nobody_listens),
        cmocka_unit_test(a_busy_port_says_how_to_choose_another),
        cmocka_unit_test(what_cannot_be_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
