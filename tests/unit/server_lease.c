/* lease: two servers on one folder, in a time of the test's own. */
#include "server/files/lease.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { TERM = 8000, BEAT = TERM / BEATS_A_TERM };

struct node {
    struct leases leases;
    struct writer_session session;
    struct writer_lease lease; /* of the name t */
    struct taken_lease taken;
};

struct world {
    char path[64];
    int folder;
    uint64_t now;
    struct node a, b;
    struct error error;
};

static void open_node(struct world *w, struct node *n)
{
    *n = (struct node){.lease.session = 0};
    assert_int_equal(leases_open(&n->leases, w->folder, TERM, &n->session, w->now, &w->error),
                     ERROR_NONE);
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    strcpy(w->path, "/tmp/tensord-lease.XXXXXX");
    assert_non_null(mkdtemp(w->path));
    w->folder = open(w->path, O_RDONLY | O_DIRECTORY);
    assert_true(w->folder >= 0);
    w->now = TERM;
    open_node(w, &w->a);
    open_node(w, &w->b);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    leases_close(&w->a.leases);
    leases_close(&w->b.leases);
    unlinkat(w->folder, ".t.lease", 0);
    unlinkat(w->folder, "target", 0);
    /* No session leaves a trace. */
    assert_int_equal(unlinkat(w->folder, ".tensord-nodes", AT_REMOVEDIR), 0);
    assert_int_equal(rmdir(w->path), 0);
    close(w->folder);
    free(w);
    return 0;
}

static enum error_code take(struct world *w, struct node *n)
{
    return lease_take(&n->leases, "t", &n->lease, &n->taken, w->now, &w->error);
}

static bool holds(const struct world *w, const struct node *n)
{
    return writer_lease_is_held(&n->lease, &n->session, w->now);
}

/* The next eighth of a term; a server that is NULL stands still. */
static void pass(struct world *w, struct node *one, struct node *other)
{
    struct node *nodes[] = {one, other};
    w->now += BEAT;
    for (int i = 0; i < 2; i++)
        if (nodes[i]) {
            assert_int_equal(leases_beat(&nodes[i]->leases, w->now, &w->error), ERROR_NONE);
            leases_watch(&nodes[i]->leases, w->now);
        }
}

static void expect_held_by(struct world *w, struct node *asks, const struct node *by)
{
    assert_int_equal(take(w, asks), ERROR_TENSOR_HELD);
    assert_non_null(strstr(w->error.message, by->leases.process));
}

static void one_holds_and_gives_back(void **state)
{
    struct world *w = *state;
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    assert_true(w->a.taken.is_lost);
    assert_string_equal(w->a.taken.etag, "");
    assert_true(holds(w, &w->a));
    uint64_t epoch = w->a.lease.epoch;
    expect_held_by(w, &w->b, &w->a);
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    assert_false(w->a.taken.is_lost);
    assert_int_equal(w->a.lease.epoch, epoch);
    assert_true(lease_give_back(&w->a.leases, "t", &w->a.lease, "\"1-2-3\""));
    assert_int_equal(take(w, &w->b), ERROR_NONE);
    assert_string_equal(w->b.taken.etag, "\"1-2-3\"");
    assert_true(w->b.lease.epoch > epoch);
    expect_held_by(w, &w->a, &w->b);
}

static void a_name_without_a_tensor_leaves_no_file(void **state)
{
    struct world *w = *state;
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    uint64_t epoch = w->a.lease.epoch;
    assert_true(lease_give_back(&w->a.leases, "t", &w->a.lease, NULL));
    assert_int_equal(faccessat(w->folder, ".t.lease", F_OK, 0), -1);
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    assert_true(w->a.taken.is_lost);
    assert_true(w->a.lease.epoch > epoch);
}

static void who_beats_is_never_dead(void **state)
{
    struct world *w = *state;
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    for (int i = 0; i < 10 * BEATS_A_TERM; i++) {
        pass(w, &w->a, &w->b);
        assert_true(holds(w, &w->a));
        expect_held_by(w, &w->b, &w->a);
    }
    assert_int_equal(w->a.session.number, 1);
}

static void a_beat_is_relied_on_for_half_a_term(void **state)
{
    struct world *w = *state;
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    w->now += TERM / 2 - 1;
    assert_true(holds(w, &w->a));
    w->now++;
    assert_false(holds(w, &w->a));
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    assert_true(holds(w, &w->a));
    assert_false(w->a.taken.is_lost);
}

/* `until` it is so: how many eighths of a term. */
static int die(struct world *w, struct node *dead, struct node *other)
{
    int passed = 0;
    (void)dead;
    while (take(w, other) == ERROR_TENSOR_HELD && passed < 100) {
        pass(w, other, NULL);
        passed++;
    }
    return passed;
}

static void a_dead_server_is_followed_after_a_term(void **state)
{
    struct world *w = *state;
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    pass(w, &w->a, &w->b);
    int passed = die(w, &w->a, &w->b);
    assert_in_range(passed, BEATS_A_TERM, BEATS_A_TERM + 2);
    assert_string_equal(w->b.taken.etag, "");
    /* It slept: nothing of it is written, and it finds out. */
    assert_int_equal(lease_lock(&w->a.leases, "t", &w->a.lease, &w->error), -1);
    assert_int_equal(w->error.code, ERROR_TENSOR_HELD);
    assert_false(holds(w, &w->a));
    expect_held_by(w, &w->a, &w->b);
    assert_true(w->a.taken.is_lost);
    assert_int_equal(w->a.session.number, 2);
    assert_true(holds(w, &w->b));
    int locked = lease_lock(&w->b.leases, "t", &w->b.lease, &w->error);
    assert_true(locked >= 0);
    lease_unlock(locked);
}

static void what_nobody_took_is_not_lost(void **state)
{
    struct world *w = *state;
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    uint64_t epoch = w->a.lease.epoch;
    for (int i = 0; i < 2 * BEATS_A_TERM; i++)
        pass(w, &w->b, NULL);
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    assert_int_equal(w->a.session.number, 2);
    assert_false(w->a.taken.is_lost);
    assert_true(w->a.lease.epoch > epoch);
    assert_true(holds(w, &w->a));
    expect_held_by(w, &w->b, &w->a);
}

/* The other's clock jumps: it stood still itself. */
static void who_stood_still_itself_declares_nobody_dead(void **state)
{
    struct world *w = *state;
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    pass(w, &w->a, &w->b);
    w->now += 100 * TERM;
    pass(w, &w->b, NULL);
    expect_held_by(w, &w->b, &w->a);
    pass(w, &w->a, &w->b);
    assert_int_equal(w->a.session.number, 1);
}

static void an_end_frees_all_at_once(void **state)
{
    struct world *w = *state;
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    leases_close(&w->a.leases);
    assert_int_equal(take(w, &w->b), ERROR_NONE);
    assert_string_equal(w->b.taken.etag, "");
    open_node(w, &w->a);
    expect_held_by(w, &w->a, &w->b);
}

static void who_is_at_the_lease_is_waited_for_and_told(void **state)
{
    struct world *w = *state;
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    int locked = lease_lock(&w->a.leases, "t", &w->a.lease, &w->error);
    assert_true(locked >= 0);
    assert_int_equal(take(w, &w->b), ERROR_TENSOR_HELD);
    assert_int_equal(take(w, &w->a), ERROR_TENSOR_HELD);
    assert_false(w->a.taken.is_lost);
    assert_false(lease_give_back(&w->a.leases, "t", &w->a.lease, NULL));
    lease_unlock(locked);
    assert_int_equal(take(w, &w->a), ERROR_NONE);
    assert_false(w->a.taken.is_lost);
}

static void write_line(struct world *w, const char *line)
{
    int fd = openat(w->folder, ".t.lease", O_WRONLY | O_CREAT | O_TRUNC, 0640);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, line, strlen(line)), strlen(line));
    close(fd);
}

static void odd_lines_are_nobodys(void **state)
{
    static const char *const lines[] = {"",
                                        "\n",
                                        "x",
                                        "7",
                                        "7 -",
                                        "-1 nobody.0.1\n",
                                        "7 ../../etc/passwd 8\n",
                                        "99999999999999999999999 a b\n"};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        write_line(w, lines[i]);
        w->a.lease.session = 0;
        assert_int_equal(take(w, &w->a), ERROR_NONE);
        assert_true(w->a.taken.is_lost);
        assert_true(lease_give_back(&w->a.leases, "t", &w->a.lease, NULL));
    }
}

static void a_link_is_not_followed(void **state)
{
    struct world *w = *state;
    struct stat found;
    assert_int_equal(symlinkat("target", w->folder, ".t.lease"), 0);
    assert_int_equal(take(w, &w->a), ERROR_TENSOR_FILE_FAILED);
    assert_int_equal(fstatat(w->folder, "target", &found, 0), -1);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(one_holds_and_gives_back),
        TEST(a_name_without_a_tensor_leaves_no_file),
        TEST(who_beats_is_never_dead),
        TEST(a_beat_is_relied_on_for_half_a_term),
        TEST(a_dead_server_is_followed_after_a_term),
        TEST(what_nobody_took_is_not_lost),
        TEST(who_stood_still_itself_declares_nobody_dead),
        TEST(an_end_frees_all_at_once),
        TEST(who_is_at_the_lease_is_waited_for_and_told),
        TEST(odd_lines_are_nobodys),
        TEST(a_link_is_not_followed),
    };
    return cmocka_run_group_tests_name("server_lease", tests, NULL, NULL);
}
