/* files: a snapshot written and read back, files that are cut short or changed, two files with one
 * name, links. */
#include "server/base/clock.h"
#include "server/files/catalog.h"
#include "server/files/change.h"
#include "server/files/reader.h"
#include "server/files/saved.h"
#include "server/tensors/store_keys.h"
#include "server/tensors/store_view.h"
#include "tests/support/files/file_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    file_world_close(&world);
    scratch_remove(&scratch);
    return 0;
}

static void expect_bytes(const char *name, const char *bytes)
{
    struct turn turn;
    file_world_take(&world, &turn, name);
    const struct resident *r = turn_resident(&turn, 0);
    assert_non_null(r);
    assert_int_equal(r->bytes, strlen(bytes));
    assert_memory_equal(r->tensor.data, bytes, r->bytes);
    file_world_leave(&world, &turn);
}

static void look(const char *name, struct resident_view *view)
{
    assert_true(store_look(&world.store, name, clock_ns(), view));
}

static void write_tensors(const char *file, const char *header, const char *data)
{
    scratch_tensors(&scratch, file, header, data, strlen(data));
}

static void open_empty(void)
{
    assert_int_equal(file_world_load(&world, &error), ERROR_NONE);
}

/* ------------------------------------------------------------------------------- there and back */

static const struct position position = {"log", 17, 3};

/* The n-th key of a name, and the position of what came under it. */
static void write_under_key(const char *name, uint8_t n)
{
    struct turn turn;
    struct key *key;
    const uint8_t id[KEY_ID_BYTES] = {n}, print[DIGEST_BYTES] = {0, n};
    file_world_take(&world, &turn, name);
    assert_int_equal(store_claim(&world.store, &turn, 0, id, print, &key, clock_ns()), CLAIM_NEW);
    struct resident *r = turn_resident(&turn, 0);
    assert_true(positions_reserve(&r->positions, &position));
    store_wrote(&world.store, &turn, 0, &position, clock_ns());
    key->answer_size = (size_t)sprintf(key->answer, "{\"a\":\"\\n%d\"}\n", n);
    key->etag = strcpy(key->answer + key->answer_size, "\"1-2\"");
    key->status = 201;
    store_keep(&world.store, &turn, 0, key, clock_ns());
    file_world_leave(&world, &turn);
}

static void expect_key(const char *name, uint8_t n)
{
    struct turn turn;
    struct key *key;
    char answer[32];
    const uint8_t id[KEY_ID_BYTES] = {n}, print[DIGEST_BYTES] = {0, n};
    file_world_take(&world, &turn, name);
    assert_int_equal(store_claim(&world.store, &turn, 0, id, print, &key, clock_ns()), CLAIM_KEPT);
    sprintf(answer, "{\"a\":\"\\n%d\"}\n", n);
    assert_int_equal(key->answer_size, strlen(answer));
    assert_memory_equal(key->answer, answer, key->answer_size);
    assert_string_equal(key->etag, "\"1-2\"");
    assert_int_equal(key->status, 201);
    file_world_leave(&world, &turn);
}

static void a_snapshot_is_read_back_whole(void **state)
{
    struct resident_view before, after;
    struct position list[POSITIONS_MAX];
    (void)state;
    open_empty();
    file_world_put(&world, "t", "abcde");
    write_under_key("t", 1);
    write_under_key("t", 2);
    look("t", &before);
    assert_int_equal(file_world_save(&world, "t", NULL, &error), ERROR_NONE);
    assert_int_equal(scratch_count(&scratch), 1);
    file_world_restart(&world, scratch.path, STDOUT_FILENO);
    expect_bytes("t", "abcde");
    look("t", &after);
    assert_int_equal(after.version, before.version);
    assert_int_equal(after.generation, before.generation);
    assert_string_not_equal(after.etag, before.etag); /* versions after this one may be lost */
    assert_int_equal(after.saved_version, after.version);
    assert_true(after.is_saved && !after.is_read_only);
    assert_int_equal(store_positions(&world.store, "t", clock_ns(), list), 1);
    assert_memory_equal(&list[0].high, &position.high, 2 * sizeof position.high);
    expect_key("t", 1);
    expect_key("t", 2);
}

static void a_clean_end_keeps_the_tags(void **state)
{
    struct resident_view before, after;
    (void)state;
    open_empty();
    file_world_put(&world, "t", "abcde");
    assert_int_equal(file_world_save(&world, "t", NULL, &error), ERROR_NONE);
    look("t", &before);
    files_leave_clean(&world.files);
    file_world_restart(&world, scratch.path, STDOUT_FILENO);
    look("t", &after);
    assert_string_equal(after.etag, before.etag);
    file_world_restart(
        &world, scratch.path,
        STDOUT_FILENO); /* the list was taken away: that start was the end of what it says */
    look("t", &after);
    assert_string_not_equal(after.etag, before.etag);
}

static void the_data_begins_at_a_multiple_of_64(void **state)
{
    (void)state;
    open_empty();
    for (size_t i = 1; i <= 70; i += 3) {
        char name[FILE_NAME_MAX + 1] = "";
        struct reader reader;
        memset(name, 'n', i);
        file_world_put(&world, name, "abc");
        assert_int_equal(file_world_save(&world, name, NULL, &error), ERROR_NONE);
        strcat(name, FILE_SUFFIX);
        assert_int_equal(
            reader_open(&reader, &world.files.folder, name, &world.blocks, &world.budget, &error),
            ERROR_NONE);
        assert_int_equal(reader.data_at % 64, 0);
        reader_close(&reader);
    }
}

/* -------------------------------------------------------------------------------- hostile files */

/* What became of a file with these bytes. */
static enum error_code try_bytes(const char *bytes, size_t size)
{
    struct reader reader;
    scratch_write(&scratch, "t.safetensors", bytes, size);
    enum error_code code = reader_open(&reader, &world.files.folder, "t.safetensors", &world.blocks,
                                       &world.budget, &error);
    if (code == ERROR_NONE)
        reader_close(&reader);
    assert_int_equal(budget_used(&world.budget), 0);
    return code;
}

static char *saved_file(size_t *size)
{
    open_empty();
    file_world_put(&world, "t", "abcde");
    write_under_key("t", 1);
    assert_int_equal(file_world_save(&world, "t", NULL, &error), ERROR_NONE);
    return scratch_read(&scratch, "t.safetensors", size);
}

static void a_file_cut_short_anywhere_is_refused(void **state)
{
    size_t size;
    char *bytes = saved_file(&size);
    (void)state;
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(try_bytes(bytes, i), ERROR_INVALID_PARAMETER);
        assert_non_null(strstr(error.message, "t.safetensors: "));
    }
    assert_int_equal(try_bytes(bytes, size), ERROR_NONE);
    free(bytes);
}

/* A flipped bit in a name or a value may mean another one; it never does harm. */
static void a_changed_bit_of_the_head_is_refused_or_read(void **state)
{
    size_t size;
    int refused = 0;
    char *bytes = saved_file(&size);
    (void)state;
    int open_before = scratch_count(&(struct scratch){.path = "/proc/self/fd"});
    for (size_t i = 0; i < size - 5; i++)
        for (int bit = 0; bit < 8; bit += 1 + (int)(i % 3)) {
            bytes[i] ^= (char)(1 << bit);
            enum error_code code = try_bytes(bytes, size);
            assert_true(code == ERROR_NONE || code == ERROR_INVALID_PARAMETER);
            refused += code != ERROR_NONE;
            bytes[i] ^= (char)(1 << bit);
        }
    assert_true(refused > 100);
    assert_int_equal(scratch_count(&(struct scratch){.path = "/proc/self/fd"}), open_before);
    free(bytes);
}

static bool go_on(void *context)
{
    (void)context;
    return true;
}

static void a_file_that_shrank_since_it_was_seen_ends_the_load(void **state)
{
    size_t size;
    char *bytes = saved_file(&size);
    (void)state;
    file_world_close(&world);
    file_world_open(&world, scratch.path, STDOUT_FILENO);
    assert_int_equal(files_open(&world.files, &world.config, &error), ERROR_NONE);
    scratch_write(&scratch, "t.safetensors", bytes, size - 1);
    assert_int_equal(files_load(&world.files, go_on, NULL, &error), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "t.safetensors: it has 4 bytes of data"));
    assert_int_equal(store_load(&world.store).count, 0);
    free(bytes);
}

/* --------------------------------------------------------------------------------- names, links */

#define I8(NAME, FROM, TO)                                                                         \
    "'" NAME "':{'dtype':'I8','shape':[1],'data_offsets':[" #FROM "," #TO "]}"

static void a_file_of_its_own_is_before_a_part_of_another(void **state)
{
    (void)state;
    write_tensors("m.safetensors", "{" I8("a", 0, 1) "," I8("b", 1, 2) "}", "ab");
    write_tensors("m.b.safetensors", "{" I8("any", 0, 1) "}", "B");
    open_empty();
    expect_bytes("m.a", "a");
    expect_bytes("m.b", "B");
    assert_int_equal(store_load(&world.store).count, 2);
}

static void two_files_with_one_tensor_are_refused(void **state)
{
    (void)state;
    write_tensors("m.safetensors", "{" I8("n.a", 0, 1) "," I8("b", 1, 2) "}", "ab");
    write_tensors("m.n.safetensors", "{" I8("a", 0, 1) "," I8("c", 1, 2) "}", "ac");
    assert_int_equal(file_world_load(&world, &error), ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "both have a tensor 'm.n.a'"));
}

/* The file of a name, made a link to a file outside of the folder. */
static void link_out(const struct scratch *outside, const char *name)
{
    scratch_write(outside, "precious", "precious", 8);
    assert_int_equal(symlink(scratch_path(outside, "precious"), scratch_path(&scratch, name)), 0);
}

static void expect_untouched(const struct scratch *outside)
{
    size_t size;
    char *bytes = scratch_read(outside, "precious", &size);
    assert_string_equal(bytes, "precious");
    free(bytes);
    assert_int_equal(scratch_count(outside), 1);
}

static void a_link_is_not_followed(void **state)
{
    struct scratch outside;
    (void)state;
    scratch_make(&outside);
    open_empty();
    file_world_put(&world, "t", "abcde");
    link_out(&outside, "t.safetensors");
    struct reader reader;
    assert_int_equal(reader_open(&reader, &world.files.folder, "t.safetensors", &world.blocks,
                                 &world.budget, &error),
                     ERROR_INVALID_PARAMETER);
    assert_non_null(strstr(error.message, "is a link"));
    /* A snapshot takes the link's place. */
    assert_int_equal(file_world_save(&world, "t", NULL, &error), ERROR_NONE);
    expect_untouched(&outside);
    file_world_restart(&world, scratch.path, STDOUT_FILENO);
    expect_bytes("t", "abcde");
    scratch_remove(&outside);
}

static void a_link_in_a_temporary_s_place_is_not_written(void **state)
{
    struct scratch outside;
    char name[40];
    (void)state;
    scratch_make(&outside);
    open_empty();
    file_world_put(&world, "t", "abcde");
    snprintf(name, sizeof name, FOLDER_NEW_PREFIX "%08x-0", world.files.folder.tag);
    link_out(&outside, name);
    assert_int_equal(file_world_save(&world, "t", NULL, &error), ERROR_TENSOR_FILE_FAILED);
    expect_untouched(&outside);
    file_world_restart(&world, scratch.path, STDOUT_FILENO); /* which sweeps it */
    assert_int_equal(scratch_count(&scratch), 0);
    expect_untouched(&outside);
    scratch_remove(&outside);
}

/* ----------------------------------------------------------------------- snapshots that come to
 * nothing */

static void a_stopped_snapshot_leaves_nothing(void **state)
{
    const atomic_bool stop = true;
    (void)state;
    open_empty();
    file_world_put(&world, "t", "abcde");
    assert_int_equal(file_world_save(&world, "t", &stop, &error), ERROR_CANCELLED);
    assert_int_equal(scratch_count(&scratch), 0);
}

static void a_snapshot_of_what_is_gone_is_not_kept(void **state)
{
    struct turn turn;
    struct snapshot snapshot;
    (void)state;
    open_empty();
    file_world_put(&world, "t", "abcde");
    file_world_take(&world, &turn, "t");
    assert_int_equal(
        snapshot_take(&snapshot, &world.files, &turn, (struct taken){0, 0}, true, &error),
        ERROR_NONE);
    assert_int_equal(files_drop(&world.files, &turn, 0, &error), ERROR_NONE);
    file_world_leave(&world, &turn);
    assert_int_equal(snapshot_write(&snapshot, &world.files, NULL, &error), ERROR_CONFLICT);
    snapshot_release(&snapshot, &world.files);
    assert_int_equal(scratch_count(&scratch), 0);
    assert_int_equal(world.files.failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_snapshot_is_read_back_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_clean_end_keeps_the_tags, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_data_begins_at_a_multiple_of_64, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_cut_short_anywhere_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_changed_bit_of_the_head_is_refused_or_read, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_shrank_since_it_was_seen_ends_the_load, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_file_of_its_own_is_before_a_part_of_another, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(two_files_with_one_tensor_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_link_is_not_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_link_in_a_temporary_s_place_is_not_written, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_stopped_snapshot_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_snapshot_of_what_is_gone_is_not_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
