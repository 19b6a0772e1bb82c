/* line: order of arrival, readers together, writers alone, several names in one step, and what
 * becomes of a turn in each of its states. */
#include "server/tensors/store.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 16 };

static const struct line_bounds wide = {1000, SIZE_MAX};
static struct blocks blocks;
static struct store store;
static struct turn turns[MOST];
static struct turn *told[MOST];
static int told_count;
static enum turn_state entered;

static void note(struct turn *turn)
{
    told[told_count++] = turn;
}

static int set_up(void **state)
{
    (void)state;
    blocks_init(&blocks, 0);
    store_init(&store, &(struct store_setup){
                           .blocks = &blocks, .memory = 64 << 20, .most = 4, .most_keys = 8});
    for (int i = 0; i < MOST; i++)
        turns[i] = (struct turn){.ready = note, .bytes = 10};
    told_count = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < MOST; i++)
        store_leave(&store, &turns[i], 0);
    assert_null(store.names);
    store_release(&store);
    blocks_release(&blocks);
    return 0;
}

/* "ar bw": reads a, writes b. */
static enum error_code enter(int i, const char *names, bool may_wait)
{
    struct error error;
    error_clear(&error);
    for (const char *p = names; *p; p += p[2] ? 3 : 2)
        assert_true(store_join(&store, &turns[i], (char[]){p[0], '\0'}, p[1] == 'w') >= 0);
    return store_enter(&store, &turns[i], &wide, may_wait, 0, &entered, &error);
}

static void waits(int i, const char *names)
{
    assert_int_equal(enter(i, names, true), ERROR_NONE);
    assert_int_equal(turns[i].state, TURN_WAITING);
}

static void holds(int i, const char *names)
{
    assert_int_equal(enter(i, names, true), ERROR_NONE);
    assert_int_equal(turns[i].state, TURN_HELD);
}

/* Leaving brings these turns on, in this order. */
static void leaves(int i, const char *brought)
{
    told_count = 0;
    store_leave(&store, &turns[i], 0);
    assert_int_equal(turns[i].state, TURN_OUT);
    for (int n = 0; brought[n]; n++) {
        assert_true(n < told_count);
        assert_ptr_equal(told[n], &turns[brought[n] - '0']);
        assert_int_equal(told[n]->state, TURN_HELD);
    }
    assert_int_equal(told_count, (int)strlen(brought));
}

static void readers_hold_together(void **state)
{
    (void)state;
    holds(0, "ar");
    holds(1, "ar");
    waits(2, "aw");
    leaves(0, "");
    leaves(1, "2");
}

static void a_writer_holds_alone(void **state)
{
    (void)state;
    holds(0, "aw");
    waits(1, "ar");
    waits(2, "aw");
    waits(3, "ar");
    waits(4, "ar");
    leaves(0, "1");
    leaves(1, "2");
    leaves(2, "34");
}

/* A reader that comes after a waiting writer waits too: the writer does not starve. */
static void nobody_overtakes(void **state)
{
    (void)state;
    holds(0, "ar");
    waits(1, "aw");
    waits(2, "ar");
    leaves(0, "1");
    leaves(1, "2");
}

static void names_are_lines_of_their_own(void **state)
{
    (void)state;
    holds(0, "aw");
    holds(1, "bw");
    leaves(0, "");
}

/* Opposite orders of names cannot lock each other out: both enter all lines in one step. */
static void several_names_are_held_together(void **state)
{
    (void)state;
    holds(0, "ar");
    waits(1, "aw bw");
    waits(2, "bw aw");
    waits(3, "br");
    leaves(0, "1");
    leaves(1, "2");
    leaves(2, "3");
}

static void one_name_twice_is_one_place_and_a_write_wins(void **state)
{
    (void)state;
    holds(0, "ar aw ar");
    assert_int_equal(turns[0].count, 1);
    waits(1, "ar");
    leaves(0, "1");
}

static void who_may_not_wait_stays_out(void **state)
{
    (void)state;
    holds(0, "ar");
    assert_int_equal(enter(1, "aw", false), ERROR_NONE);
    assert_int_equal(turns[1].state, TURN_OUT);
    leaves(0, "");
    assert_int_equal(store_enter(&store, &turns[1], &wide, false, 0, &entered, NULL), ERROR_NONE);
    assert_int_equal(turns[1].state, TURN_HELD);
}

/* A waiting writer that leaves lets the readers behind it join those in front. */
static void a_waiting_turn_that_leaves_brings_on_those_behind(void **state)
{
    (void)state;
    holds(0, "ar");
    waits(1, "aw");
    waits(2, "ar");
    waits(3, "aw");
    waits(4, "ar");
    leaves(1, "2");
    leaves(3, "4");
}

static bool is_odd(struct turn *turn, void *context)
{
    (void)context;
    return (turn - turns) % 2 == 1;
}

static bool is_any(struct turn *turn, void *context)
{
    (void)turn;
    (void)context;
    return true;
}

static void those_whose_time_is_over_are_taken_out(void **state)
{
    (void)state;
    holds(0, "ar");
    waits(1, "aw");
    waits(2, "ar");
    waits(3, "aw br");
    waits(5, "aw");
    holds(4, "br");
    told_count = 0;
    int removed = 0;
    for (struct turn *t = store_remove(&store, is_odd, NULL, 0); t; t = t->next_held, removed++)
        assert_int_equal(t->state, TURN_OUT);
    assert_int_equal(removed, 3);
    assert_int_equal(told_count, 1);
    assert_ptr_equal(told[0], &turns[2]);
    assert_int_equal(store_load(&store).waiting, 0);
}

/* Two that are removed at once do not bring each other on. */
static void all_can_be_taken_out(void **state)
{
    (void)state;
    holds(0, "aw");
    waits(1, "aw");
    waits(2, "ar");
    waits(3, "ar aw");
    told_count = 0;
    assert_non_null(store_remove(&store, is_any, NULL, 0));
    assert_int_equal(told_count, 0);
    leaves(0, "");
}

static void a_line_is_bounded_in_turns_and_bytes(void **state)
{
    struct error error;
    (void)state;
    holds(0, "aw");
    waits(1, "ar");
    assert_true(store_join(&store, &turns[2], "a", false) >= 0);
    assert_int_equal(
        store_enter(&store, &turns[2], &(struct line_bounds){2, 1000}, true, 0, &entered, &error),
        ERROR_QUEUE_FULL);
    assert_int_equal(turns[2].state, TURN_OUT);
    assert_int_equal(
        store_enter(&store, &turns[2], &(struct line_bounds){3, 29}, true, 0, &entered, &error),
        ERROR_QUEUE_FULL);
    assert_int_equal(
        store_enter(&store, &turns[2], &(struct line_bounds){3, 30}, true, 0, &entered, &error),
        ERROR_NONE);
    assert_int_equal(turns[2].state, TURN_WAITING);
}

/* A turn that can enter at once needs no room in a line, so one without room does not refuse it. */
static void a_free_line_refuses_nobody(void **state)
{
    struct error error;
    (void)state;
    holds(0, "ar");
    assert_true(store_join(&store, &turns[1], "a", false) >= 0);
    assert_int_equal(
        store_enter(&store, &turns[1], &(struct line_bounds){1, 0}, true, 0, &entered, &error),
        ERROR_NONE);
    assert_int_equal(turns[1].state, TURN_HELD);
}

/* --------------------------------------------------------------------------------- many threads */

enum { THREADS = 4, ROUNDS = 3000, NAMES = 3 };

static int values[NAMES]; /* plain: the lines are their locks */
static int readers_wrong;

struct member {
    struct turn turn;
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool has_come;
    unsigned seed;
    int written[NAMES];
};

static void come(struct turn *turn)
{
    struct member *m = (struct member *)turn;
    pthread_mutex_lock(&m->lock);
    m->has_come = true;
    pthread_cond_signal(&m->came);
    pthread_mutex_unlock(&m->lock);
}

static void await(struct member *m)
{
    pthread_mutex_lock(&m->lock);
    while (!m->has_come)
        pthread_cond_wait(&m->came, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

static void *work(void *context)
{
    struct member *m = context;
    for (int round = 0; round < ROUNDS; round++) {
        struct error error;
        int first = rand_r(&m->seed) % NAMES, second = rand_r(&m->seed) % NAMES;
        bool writes = rand_r(&m->seed) % 2;
        enum turn_state became;
        m->has_come = false;
        m->turn = (struct turn){.ready = come};
        store_join(&store, &m->turn, (char[]){(char)('a' + first), '\0'}, writes);
        store_join(&store, &m->turn, (char[]){(char)('a' + second), '\0'}, false);
        if (store_enter(&store, &m->turn, &wide, true, 0, &became, &error) != ERROR_NONE)
            abort();
        if (became == TURN_WAITING)
            await(m);
        if (writes) {
            values[first]++;
            m->written[first]++;
        } else if (values[first] < 0 || values[second] < 0) {
            readers_wrong++;
        }
        store_leave(&store, &m->turn, 0);
    }
    return NULL;
}

/* Under the thread sanitizer this also says that a line is a lock: who comes to hold it sees what
 * was written before. */
static void lines_are_locks(void **state)
{
    static struct member members[THREADS];
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++) {
        members[i].seed = (unsigned)i + 1;
        pthread_mutex_init(&members[i].lock, NULL);
        pthread_cond_init(&members[i].came, NULL);
        assert_int_equal(pthread_create(&threads[i], NULL, work, &members[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int name = 0; name < NAMES; name++) {
        int sum = 0;
        for (int i = 0; i < THREADS; i++)
            sum += members[i].written[name];
        assert_int_equal(values[name], sum);
    }
    assert_int_equal(readers_wrong, 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_destroy(&members[i].lock);
        pthread_cond_destroy(&members[i].came);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* A leaving turn reads the clock before it takes the lock; another turn may enter in between. */
static void a_wait_is_never_less_than_nothing(void **state)
{
    struct error error;
    (void)state;
    error_clear(&error);
    holds(0, "aw");
    assert_true(store_join(&store, &turns[1], "a", false) >= 0);
    assert_int_equal(store_enter(&store, &turns[1], &wide, true, 100, &entered, &error),
                     ERROR_NONE);
    assert_int_equal(entered, TURN_WAITING);
    store_leave(&store, &turns[0], 50);
    assert_int_equal(turns[1].state, TURN_HELD);
    assert_int_equal(turns[1].held_ns, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(readers_hold_together),
        TEST(a_writer_holds_alone),
        TEST(nobody_overtakes),
        TEST(names_are_lines_of_their_own),
        TEST(several_names_are_held_together),
        TEST(one_name_twice_is_one_place_and_a_write_wins),
        TEST(who_may_not_wait_stays_out),
        TEST(a_waiting_turn_that_leaves_brings_on_those_behind),
        TEST(those_whose_time_is_over_are_taken_out),
        TEST(all_can_be_taken_out),
        TEST(a_line_is_bounded_in_turns_and_bytes),
        TEST(a_free_line_refuses_nobody),
        TEST(a_wait_is_never_less_than_nothing),
        TEST(lines_are_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
