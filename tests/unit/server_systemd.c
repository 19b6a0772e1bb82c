/* systemd: notifications, the watchdog's time, inherited sockets. */
#include "server/net/systemd.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static struct error error;

static void set_number(const char *name, long number)
{
    char text[24];
    snprintf(text, sizeof text, "%ld", number);
    setenv(name, text, 1);
}

static int forget(void **state)
{
    static const char *const names[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
                                        "LISTEN_PID",    "LISTEN_FDS",    "LISTEN_FDNAMES"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    return 0;
}

static void expect_notification(const char *variable, const struct sockaddr_un *name, size_t size)
{
    char got[64];
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)name, (socklen_t)size), 0);
    setenv("NOTIFY_SOCKET", variable, 1);
    systemd_notify("READY=1");
    ssize_t n = recv(fd, got, sizeof got - 1, MSG_DONTWAIT);
    assert_int_equal(n, 7);
    got[n] = '\0';
    assert_string_equal(got, "READY=1");
    close(fd);
}

static void a_state_is_one_datagram(void **state)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    (void)state;
    snprintf(name.sun_path, sizeof name.sun_path, "/tmp/server_systemd.%d", getpid());
    expect_notification(name.sun_path, &name, sizeof name);
    unlink(name.sun_path);
    size_t size = (size_t)snprintf(name.sun_path, sizeof name.sun_path, "@tensord.%d", getpid());
    char variable[64];
    strcpy(variable, name.sun_path);
    name.sun_path[0] = '\0';
    expect_notification(variable, &name, offsetof(struct sockaddr_un, sun_path) + size);
}

static void without_systemd_nothing_happens(void **state)
{
    struct listeners listeners = {.count = 0};
    (void)state;
    systemd_notify("READY=1");
    setenv("NOTIFY_SOCKET", "nonsense", 1);
    systemd_notify("READY=1");
    assert_int_equal(systemd_watchdog_ns(), 0);
    assert_int_equal(systemd_listeners(&listeners, &error), ERROR_NONE);
    assert_int_equal(listeners.count, 0);
}

static void the_watchdog_is_told_twice_in_its_time(void **state)
{
    (void)state;
    setenv("WATCHDOG_USEC", "3000000", 1);
    assert_int_equal(systemd_watchdog_ns(), 1500000000);
    set_number("WATCHDOG_PID", getpid());
    assert_int_equal(systemd_watchdog_ns(), 1500000000);
    set_number("WATCHDOG_PID", getpid() + 1);
    assert_int_equal(systemd_watchdog_ns(), 0);
    unsetenv("WATCHDOG_PID");
    setenv("WATCHDOG_USEC", "soon", 1);
    assert_int_equal(systemd_watchdog_ns(), 0);
}

static void sockets_are_inherited_from_3_on(void **state)
{
    struct listeners made = {.count = 0}, listeners = {.count = 0};
    (void)state;
    assert_int_equal(listeners_open(&made, "127.0.0.1:0", &error), ERROR_NONE);
    int saved = dup(3); /* whatever the test inherited as descriptor 3 */
    assert_int_equal(dup2(made.list[0].fd, 3), 3);
    setenv("LISTEN_FDS", "1", 1);
    set_number("LISTEN_PID", getpid() + 1);
    assert_int_equal(systemd_listeners(&listeners, &error), ERROR_NONE);
    assert_int_equal(listeners.count, 0);
    set_number("LISTEN_PID", getpid());
    assert_int_equal(systemd_listeners(&listeners, &error), ERROR_NONE);
    assert_int_equal(listeners.count, 1);
    assert_string_equal(listeners.list[0].address, made.list[0].address);
    listeners_close(&listeners);
    int plain = open("/dev/null", 0);
    dup2(plain, 3);
    assert_int_equal(systemd_listeners(&listeners, &error), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "no socket that listens"));
    if (saved >= 0)
        dup2(saved, 3);
    listeners_close(&made);
}

static void a_socket_that_is_called_tls_speaks_it(void **state)
{
    static const struct {
        const char *names;
        bool is_tls;
    } rows[] = {{"tls", true}, {"tls:web", true}, {"web:tls", false}, {"tlsx", false}, {"", false}};
    struct listeners made = {.count = 0};
    (void)state;
    assert_int_equal(listeners_open(&made, "127.0.0.1:0", &error), ERROR_NONE);
    int saved = dup(3), socket = fcntl(made.list[0].fd, F_DUPFD, 10); /* listeners_close closes 3 */
    setenv("LISTEN_FDS", "1", 1);
    set_number("LISTEN_PID", getpid());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct listeners listeners = {.count = 0};
        assert_int_equal(dup2(socket, 3), 3);
        setenv("LISTEN_FDNAMES", rows[i].names, 1);
        assert_int_equal(systemd_listeners(&listeners, &error), ERROR_NONE);
        assert_int_equal(listeners.list[0].is_tls, rows[i].is_tls);
        listeners_close(&listeners);
    }
    if (saved >= 0)
        dup2(saved, 3);
    close(socket);
    listeners_close(&made);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, forget, forget)
    const struct CMUnitTest tests[] = {
        TEST(a_state_is_one_datagram),
        TEST(without_systemd_nothing_happens),
        TEST(the_watchdog_is_told_twice_in_its_time),
        TEST(sockets_are_inherited_from_3_on),
        TEST(a_socket_that_is_called_tls_speaks_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
