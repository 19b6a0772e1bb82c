/* checkpoint: what a start says of how far sources had come is never ahead of a tensor's file. */
#include "server/base/clock.h"
#include "server/files/change.h"
#include "server/tensors/store_view.h"
#include "tests/support/files/file_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/http/scratch.h"

static struct scratch scratch;
static struct file_world world;
static struct error error;

static int set_up(void **state)
{
    (void)state;
    scratch_make(&scratch);
    file_world_open(&world, scratch.path, STDOUT_FILENO);
    assert_int_equal(file_world_load(&world, &error), ERROR_NONE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    file_world_close(&world);
    scratch_remove(&scratch);
    return 0;
}

/* The update of the log at that position writes the tensor. */
static void update(const char *name, uint64_t high)
{
    struct turn turn;
    const struct position position = {"log", high, 1};
    file_world_take(&world, &turn, name);
    assert_true(positions_reserve(&turn_resident(&turn, 0)->positions, &position));
    store_wrote(&world.store, &turn, 0, &position, clock_ns());
    store_advance(&world.store, "", &position);
    file_world_leave(&world, &turn);
}

static void save(const char *name)
{
    assert_int_equal(file_world_save(&world, name, NULL, &error), ERROR_NONE);
}

static void take(const char *name, struct snapshot *snapshot)
{
    struct turn turn;
    file_world_take(&world, &turn, name);
    assert_int_equal(
        snapshot_take(snapshot, &world.files, &turn, (struct taken){0, 0}, true, &error),
        ERROR_NONE);
    file_world_leave(&world, &turn);
}

static void write_taken(struct snapshot *snapshot)
{
    assert_int_equal(snapshot_write(snapshot, &world.files, NULL, &error), ERROR_NONE);
    snapshot_release(snapshot, &world.files);
}

static void drop(const char *name)
{
    struct turn turn;
    file_world_take(&world, &turn, name);
    assert_int_equal(files_drop(&world.files, &turn, 0, &error), ERROR_NONE);
    file_world_leave(&world, &turn);
}

/* After another start; 0: the log is at none. */
static void expect(uint64_t high)
{
    struct position list[SOURCES_MAX];
    file_world_restart(&world, scratch.path, STDOUT_FILENO);
    int count = store_sources(&world.store, "", list);
    assert_int_equal(count, high > 0);
    assert_true(count == 0 || (strcmp(list[0].source, "log") == 0 && list[0].low == 1));
    assert_int_equal(count ? list[0].high : 0, high);
}

static void put_both(void)
{
    file_world_put(&world, "a", "abc");
    file_world_put(&world, "b", "abc");
    update("a", 1);
    update("b", 2);
}

/* ---------------------------------------------------------------------------------------- tests */

static void a_tensor_that_was_never_saved_holds_it_back(void **state)
{
    (void)state;
    put_both();
    save("a");
    expect(0);
}

static void all_that_is_saved_counts(void **state)
{
    (void)state;
    put_both();
    save("a");
    save("b");
    expect(2);
    expect(2); /* the file stays */
}

/* The number of the file, which is another one each time that it is replaced. */
static ino_t file_number(void)
{
    struct stat found;
    assert_int_equal(stat(scratch_path(&scratch, ".tensord-positions"), &found), 0);
    return found.st_ino;
}

static void positions_that_stand_are_not_written_again(void **state)
{
    (void)state;
    put_both();
    save("a");
    save("b");
    ino_t first = file_number();
    file_world_put(&world, "a", "xyz");
    save("a");
    assert_true(file_number() == first);
    update("a", 3);
    save("a");
    assert_true(file_number() != first);
    expect(3);
}

static void an_unsaved_tensor_holds_it_back_and_an_idle_one_does_not(void **state)
{
    (void)state;
    put_both();
    save("a");
    save("b");
    update("b", 3);
    update("a", 4);
    save("a");
    expect(2);
    for (uint64_t high = 5; high < 8; high++) {
        update("a", high);
        save("a");
    }
    expect(7);
}

static void a_tensor_that_is_written_all_the_time_is_a_snapshot_behind(void **state)
{
    struct snapshot snapshot;
    (void)state;
    put_both();
    save("b");
    for (uint64_t high = 10; high < 13; high++) {
        take("a", &snapshot);
        update("a", high); /* in no snapshot yet when this one is written */
        write_taken(&snapshot);
    }
    expect(11);
}

static void a_dropped_tensor_holds_nothing_back(void **state)
{
    (void)state;
    put_both();
    save("b");
    update("b", 3);
    drop("b");
    save("a");
    expect(3);
}

static void a_replaced_tensor_holds_it_back_until_it_is_saved(void **state)
{
    (void)state;
    put_both();
    save("a");
    save("b");
    file_world_put(&world, "a", "xyz");
    update("a", 3);
    save("b");
    expect(2);
}

static void the_end_of_a_drain_knows_what_is_saved(void **state)
{
    (void)state;
    put_both();
    save("a");
    save("b");
    update("b", 3);
    drop("b");
    files_leave_clean(&world.files);
    expect(3);
}

static void tokens_keep_their_sources(void **state)
{
    struct position list[SOURCES_MAX];
    const struct position theirs = {"log", UINT64_MAX, UINT64_MAX};
    (void)state;
    put_both();
    store_advance(&world.store, "alice", &theirs);
    save("a");
    save("b");
    expect(2);
    assert_int_equal(store_sources(&world.store, "alice", list), 1);
    assert_memory_equal(&list[0].high, &theirs.high, 2 * sizeof theirs.high);
}

/* As many as there can be, of the longest names: in the same order afterwards. */
static void the_longest_file_is_read_back(void **state)
{
    static struct sources before, after;
    struct position position = {.high = UINT64_MAX, .low = UINT64_MAX};
    char token[SOURCE_TOKEN_MAX + 1];
    (void)state;
    file_world_put(&world, "a", "abc");
    for (int i = 0; i < SOURCES_MAX; i++) {
        snprintf(position.source, sizeof position.source, "%0*d", SOURCE_NAME_MAX, i);
        snprintf(token, sizeof token, "%0*d", SOURCE_TOKEN_MAX, i);
        store_advance(&world.store, token, &position);
    }
    store_get_sources(&world.store, &before);
    save("a");
    file_world_restart(&world, scratch.path, STDOUT_FILENO);
    store_get_sources(&world.store, &after);
    assert_int_equal(after.count, SOURCES_MAX);
    for (int i = 0; i < SOURCES_MAX; i++) {
        assert_string_equal(after.list[i].token, before.list[i].token);
        assert_string_equal(after.list[i].position.source, before.list[i].position.source);
        assert_int_equal(after.list[i].position.low, UINT64_MAX);
    }
}

static void a_damaged_file_is_none(void **state)
{
    static const char *const texts[] = {
        "x",      "17-1 log",    "17-1 log \n17",         "17 1 log\n\n",  "-1 log \n",
        "\n",     "17-1  \n",    "17-1 l/g \n",           "17-1-2 log \n", "17-1\n",
        "\n\n\n", " 17-1 log\n", "17-1 log \n\n1-1 b \n",
    };
    (void)state;
    put_both();
    save("a");
    save("b");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        scratch_write(&scratch, ".tensord-positions", texts[i], strlen(texts[i]));
        expect(0);
    }
    update("a", 5);
    save("a");
    expect(5);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_tensor_that_was_never_saved_holds_it_back),
        TEST(all_that_is_saved_counts),
        TEST(positions_that_stand_are_not_written_again),
        TEST(an_unsaved_tensor_holds_it_back_and_an_idle_one_does_not),
        TEST(a_tensor_that_is_written_all_the_time_is_a_snapshot_behind),
        TEST(a_dropped_tensor_holds_nothing_back),
        TEST(a_replaced_tensor_holds_it_back_until_it_is_saved),
        TEST(the_end_of_a_drain_knows_what_is_saved),
        TEST(tokens_keep_their_sources),
        TEST(the_longest_file_is_read_back),
        TEST(a_damaged_file_is_none),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
