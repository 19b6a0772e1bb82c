/* linger: what a client still sends is thrown away, for so long and so many bytes. */
#include "server/net/linger.h"

#include "server/base/clock.h"
#include "server/base/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { PIECE = 1 << 20 };

static struct lingerers all;
static struct error error;

static int set_up(void **state)
{
    (void)state;
    return linger_init(&all, &error) == ERROR_NONE ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    linger_release(&all);
    return 0;
}

/* Returns the client's end of a connection whose other end lingers. */
static int leave_one(void)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    linger_take(&all, ends[0]);
    return ends[1];
}

/* Bytes that the client can send, `most` at most. */
static uint64_t send_to(int fd, uint64_t most)
{
    char *piece = calloc(1, PIECE);
    uint64_t sent = 0;
    assert_non_null(piece);
    for (ssize_t n; sent < most && (n = send(fd, piece, PIECE, MSG_NOSIGNAL)) > 0;)
        sent += (uint64_t)n;
    free(piece);
    return sent;
}

static void expect_count(int count)
{
    for (int tries = 0; linger_count(&all) != count; tries++) {
        assert_true(tries < 10000);
        usleep(1000);
    }
}

static void the_client_sees_the_end_and_may_go_on_sending(void **state)
{
    char byte;
    (void)state;
    int fd = leave_one();
    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    assert_true(send_to(fd, 16 * MIB) >= 16 * MIB);
    expect_count(1);
    close(fd);
    expect_count(0);
}

static void a_client_that_sends_too_much_is_closed(void **state)
{
    (void)state;
    int fd = leave_one();
    uint64_t sent = send_to(fd, 2 * GIB);
    assert_true(sent > GIB - MIB && sent < GIB + 64 * MIB);
    expect_count(0);
    close(fd);
}

static void a_client_that_stays_too_long_is_closed(void **state)
{
    uint64_t begin = clock_ns();
    (void)state;
    int fd = leave_one();
    while (send(fd, "", 1, MSG_NOSIGNAL) == 1 && clock_ns() - begin < 20 * SEC)
        usleep(10000);
    uint64_t took = clock_ns() - begin;
    assert_true(took >= 4 * SEC && took < 20 * SEC);
    expect_count(0);
    close(fd);
}

static void the_oldest_makes_room(void **state)
{
    int fds[LINGER_MAX + 1];
    char byte = 0;
    (void)state;
    for (int i = 0; i <= LINGER_MAX; i++)
        fds[i] = leave_one();
    assert_int_equal(linger_count(&all), LINGER_MAX);
    /* The thread's poll keeps a socket open until it returns. */
    for (int tries = 0; send(fds[0], &byte, 1, MSG_NOSIGNAL) == 1; tries++) {
        assert_true(tries < 10000);
        usleep(1000);
    }
    for (int i = 1; i <= LINGER_MAX; i++)
        assert_int_equal(send(fds[i], &byte, 1, MSG_NOSIGNAL), 1);
    for (int i = 0; i <= LINGER_MAX; i++)
        close(fds[i]);
}

int main(void)
{
#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_client_sees_the_end_and_may_go_on_sending),
        TEST(a_client_that_sends_too_much_is_closed),
        TEST(a_client_that_stays_too_long_is_closed),
        TEST(the_oldest_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
