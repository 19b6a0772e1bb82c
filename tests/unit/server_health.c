/* The health question, asked of listeners that answer in different ways. */
#include "server/net/health.h"
#include "server/net/listen.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct answerer {
    struct listeners listeners;
    const char *answer;
    char question[512];
    pthread_t thread;
};

/* One connection: keeps the question, sends the answer. */
static void *serve(void *context)
{
    struct answerer *a = context;
    int fd;
    while ((fd = accept(a->listeners.list[0].fd, NULL, NULL)) < 0)
        usleep(1000);
    ssize_t size = recv(fd, a->question, sizeof a->question - 1, 0);
    a->question[size < 0 ? 0 : size] = '\0';
    send(fd, a->answer, strlen(a->answer), MSG_NOSIGNAL);
    close(fd);
    return NULL;
}

static enum error_code ask(struct answerer *a, const char *address, const char *answer)
{
    struct error error;
    char addresses[2 * LISTENER_NAME_MAX];
    assert_int_equal(listeners_open(&a->listeners, address, &error), ERROR_NONE);
    a->answer = answer;
    snprintf(addresses, sizeof addresses, "%s,127.0.0.1:1", a->listeners.list[0].address);
    assert_int_equal(pthread_create(&a->thread, NULL, serve, a), 0);
    enum error_code code = health_ask(addresses, "", &error);
    pthread_join(a->thread, NULL);
    listeners_close(&a->listeners);
    return code;
}

static void a_ready_server_is_healthy(void **state)
{
    struct answerer a;
    (void)state;
    assert_int_equal(ask(&a, "127.0.0.1:0", "HTTP/1.1 200 OK\r\n\r\n"), ERROR_NONE);
    assert_string_equal(a.question, "GET /v2/health/ready HTTP/1.1\r\nHost: localhost\r\n"
                                    "Connection: close\r\n\r\n");
}

static void a_unix_socket_can_be_asked(void **state)
{
    struct answerer a;
    char address[64];
    (void)state;
    snprintf(address, sizeof address, "unix:/tmp/tensord-health-%d", (int)getpid());
    assert_int_equal(ask(&a, address, "HTTP/1.1 200 OK\r\n\r\n"), ERROR_NONE);
}

static void a_draining_server_is_not(void **state)
{
    struct answerer a;
    (void)state;
    assert_int_equal(ask(&a, "127.0.0.1:0", "HTTP/1.1 503 Service Unavailable\r\n\r\n"),
                     ERROR_DRAINING);
}

static void half_an_answer_is_not(void **state)
{
    struct answerer a;
    (void)state;
    assert_int_equal(ask(&a, "127.0.0.1:0", "HTTP/1.1 20"), ERROR_DRAINING);
    assert_int_equal(ask(&a, "127.0.0.1:0", ""), ERROR_DRAINING);
}

static void nobody_is_not(void **state)
{
    struct error error;
    (void)state;
    assert_int_equal(health_ask("127.0.0.1:1", "", &error), ERROR_INVALID_PARAMETER);
    assert_int_equal(health_ask("unix:/nowhere", "", &error), ERROR_INVALID_PARAMETER);
    assert_int_equal(health_ask("", "", &error), ERROR_INVALID_PARAMETER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ready_server_is_healthy),
        cmocka_unit_test(a_unix_socket_can_be_asked),
        cmocka_unit_test(a_draining_server_is_not),
        cmocka_unit_test(half_an_answer_is_not),
        cmocka_unit_test(nobody_is_not),
    };
    return cmocka_run_group_tests_name("health", tests, NULL, NULL);
}
