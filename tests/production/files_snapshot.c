/* tensor_dir: snapshots, what a restart finds of them, and what happens to a table whose disk is
 * full, whose folder vanishes, or whose file is not what it was. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/kept.h"
#include "tests/support/http/preload.h"
#include "tests/support/http/scratch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define T "/v2/tensors/t"

static const char update[] = "{\"inputs\":{\"indices\":[[1]],\"updates\":[5]}}";
static const char two[] = "{'datatype':'FP32','shape':[2],'data':[1,2]}";

static struct fixture *start_with(const struct scratch *s, const char *setting)
{
    const char *const settings[] = {s->setting, setting, NULL};
    void *f;
    assert_int_equal(fixture_start_with(&f, settings), 0);
    assert_true(server_says(&((struct fixture *)f)->server, "tensors loaded", 1));
    return f;
}

static struct fixture *start(const struct scratch *s)
{
    return start_with(s, "--snapshot_interval=0");
}

static void save(struct fixture *f)
{
    kept_expect(f, 200, "POST", T "/snapshot", NULL, NULL);
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Waits for what another thread of the server does. */
#define AWAIT(CONDITION)                                                                           \
    do {                                                                                           \
        for (int ms_ = 0; !(CONDITION); ms_ += 10) {                                               \
            assert_true(ms_ < 60000);                                                              \
            pause_ms(10);                                                                          \
        }                                                                                          \
    } while (0)

/* --------------------------------------------------------------------------------- what is kept */

static void a_snapshot_is_a_safetensors_file(void **state)
{
    struct scratch s;
    uint64_t length;
    size_t size;
    (void)state;
    scratch_make(&s);
    struct fixture *f = start(&s);
    kept_put(f, "t", two);
    struct answer a = kept_call(f, "POST", T "/snapshot", NULL, NULL);
    assert_int_equal(a.status, 200);
    expect_part(&a, "{\"name\":\"t\",\"file\":\"t.safetensors\",\"bytes\":");
    expect_part(&a, ",\"version\":1,\"etag\":");
    assert_non_null(answer_header(&a, "ETag"));
    answer_release(&a);
    a = kept_call(f, "GET", T, NULL, NULL);
    expect_part(&a, "\"snapshot_version\":1,\"read_only\":false");
    answer_release(&a);
    char *bytes = scratch_read(&s, "t.safetensors", &size);
    memcpy(&length, bytes, 8);
    assert_int_equal((8 + length) % 64, 0);
    assert_int_equal(size, 8 + length + 8);
    assert_memory_equal(bytes + 8 + length, ((float[]){1, 2}), 8);
    assert_non_null(strstr(bytes + 8, "\"t\":{\"dtype\":\"F32\",\"shape\":[2]"));
    /* The file can be uploaded to any server. */
    a = fixture_call(f, &(struct call){.method = "PUT",
                                       .path = "/v2/tensors/copy",
                                       .headers = {"Content-Type:"},
                                       .body = bytes,
                                       .size = size});
    if (a.status != 201)
        fail_msg("%s", a.body);
    answer_release(&a);
    kept_holds(f, "copy", "[1.0,2.0]");
    free(bytes);
    assert_true(gauge(f, "tensord_snapshots_total") == 1);
    assert_true(gauge(f, "tensord_snapshot_bytes") == (double)size);
    fixture_end(f);
    scratch_remove(&s);
}

/* A restart finds all that belongs to a table: elements, tag, lease, positions, keys. */
static void a_restart_finds_all_of_it(void **state)
{
    struct scratch s;
    char before[128], after[128];
    (void)state;
    scratch_make(&s);
    struct fixture *f = start(&s);
    kept_expect(f, 201, "PUT", T "?ttl=1h", "Idempotency-Key: put", two);
    struct answer first = fixture_call(
        f, &(struct call){
               .path = "/v2/models/tensor_scatter_add/infer?tensor=t&into=t",
               .headers = {"Update-Source: log", "Update-Position: 17-3", "Idempotency-Key: add"},
               .body = update,
               .size = sizeof update - 1});
    assert_int_equal(first.status, 200);
    kept_etag(f, "t", before);
    fixture_end(f);
    f = start(&s);
    kept_etag(f, "t", after);
    assert_string_equal(before, after);
    kept_holds(f, "t", "[1.0,7.0]");
    struct answer a = kept_call(f, "GET", T, NULL, NULL);
    expect_part(&a, "\"version\":2,");
    expect_part(&a, "\"positions\":{\"log\":\"17-3\"}");
    assert_null(strstr(a.body, "\"expires\":null"));
    answer_release(&a);
    a = fixture_call(f,
                     &(struct call){.path = "/v2/models/tensor_scatter_add/infer?tensor=t&into=t",
                                    .headers = {"Update-Source: log", "Update-Position: 17-3",
                                                "Idempotency-Key: add"},
                                    .body = update,
                                    .size = sizeof update - 1});
    expect_header(&a, "Idempotent-Replayed", "true");
    assert_string_equal(a.body, first.body);
    answer_release(&a);
    answer_release(&first);
    a = kept_call(f, "PUT", T "?ttl=1h", "Idempotency-Key: put", two);
    expect_header(&a, "Idempotent-Replayed", "true");
    assert_int_equal(a.status, 201);
    answer_release(&a);
    a = kept_call(f, "PUT", T "?ttl=2h", "Idempotency-Key: put", two);
    expect_error(&a, 422, "IDEMPOTENCY_KEY_REUSED", "");
    answer_release(&a);
    /* A position that is not above the last one was applied. */
    a = kept_infer(f, "tensor_scatter_add/infer?tensor=t&into=t", NULL,
                   "{'inputs':{'indices':[[1]],'updates':[5]}}");
    assert_int_equal(a.status, 200);
    answer_release(&a);
    kept_holds(f, "t", "[1.0,12.0]");
    fixture_end(f);
    scratch_remove(&s);
}

/* Versions that were told and are lost are told again of other elements: under another epoch. */
static void a_death_rolls_back_under_a_new_epoch(void **state)
{
    struct scratch s;
    char saved[128], told[128], found[128];
    (void)state;
    if (!PRELOAD_WORKS)
        skip();
    scratch_make(&s);
    struct fixture *f = start(&s);
    kept_put(f, "t", two);
    save(f);
    kept_etag(f, "t", saved);
    kept_expect(f, 200, "PUT", T "/data?rows=0:1", NULL,
                "{'datatype':'FP32','shape':[1],'data':[9]}");
    kept_etag(f, "t", told);
    fixture_kill(f);
    f = start(&s);
    kept_holds(f, "t", "[1.0,2.0]");
    kept_etag(f, "t", found);
    assert_string_not_equal(found, saved);
    assert_true(gauge(f, "tensord_tensor_epochs_total") == 1);
    kept_expect(f, 200, "PUT", T "/data?rows=0:1", NULL,
                "{'datatype':'FP32','shape':[1],'data':[8]}");
    char match[160];
    snprintf(match, sizeof match, "If-Match: %s", told);
    kept_expect(f, 412, "DELETE", T, match, NULL);
    fixture_end(f);
    scratch_remove(&s);
}

static void what_was_written_is_saved_after_the_interval(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    struct fixture *f = start_with(&s, "--snapshot_interval=300ms");
    kept_put(f, "t", two);
    AWAIT(scratch_has(&s, "t.safetensors"));
    AWAIT(gauge(f, "tensord_tensor_unsaved_seconds") == 0);
    assert_true(gauge(f, "tensord_snapshots_total") == 1);
    kept_expect(f, 200, "PATCH", T, NULL, "{'ttl':'1h'}"); /* the file holds the lease as well */
    AWAIT(gauge(f, "tensord_snapshots_total") == 2);
    /* Without a write there is nothing to save. */
    pause_ms(1500);
    assert_true(gauge(f, "tensord_snapshots_total") == 2);
    fixture_end(f);
    scratch_remove(&s);
}

static void what_is_dropped_stays_dropped(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    struct fixture *f = start(&s);
    kept_put(f, "t", two);
    save(f);
    kept_expect(f, 201, "PUT", "/v2/tensors/short?ttl=1s", NULL, two);
    kept_expect(f, 200, "POST", "/v2/tensors/short/snapshot", NULL, NULL);
    kept_expect(f, 204, "DELETE", T, NULL, NULL);
    assert_false(scratch_has(&s, "t.safetensors"));
    kept_expect(f, 404, "GET", T, NULL, NULL);
    /* When a client sees that the lease is over, the file is gone already. */
    for (int status = 200; status == 200; pause_ms(20)) {
        struct answer a = kept_call(f, "GET", "/v2/tensors/short", NULL, NULL);
        status = a.status;
        answer_release(&a);
    }
    assert_false(scratch_has(&s, "short.safetensors"));
    AWAIT(gauge(f, "tensord_tensor_expired_total") == 1);
    kept_put(f, "t", "{'datatype':'FP32','shape':[2],'data':[5,6]}");
    fixture_end(f);
    f = start(&s);
    kept_holds(f, "t", "[5.0,6.0]");
    kept_expect(f, 404, "GET", "/v2/tensors/short", NULL, NULL);
    fixture_end(f);
    scratch_remove(&s);
}

static void a_move_takes_the_file_along(void **state)
{
    struct scratch s;
    char before[128], after[128];
    (void)state;
    scratch_make(&s);
    struct fixture *f = start(&s);
    kept_put(f, "t", two);
    save(f);
    kept_put(f, "next", "{'datatype':'FP32','shape':[2],'data':[3,4]}");
    kept_expect(f, 200, "PUT", T "?move=next", NULL, NULL); /* the new table is in no file yet */
    assert_int_equal(scratch_count(&s), 1);
    kept_put(f, "next", "{'datatype':'FP32','shape':[2],'data':[5,6]}");
    kept_expect(f, 200, "POST", "/v2/tensors/next/snapshot", NULL, NULL);
    kept_expect(f, 200, "PUT", T "?move=next", NULL, NULL); /* this one is */
    assert_int_equal(scratch_count(&s), 1);
    kept_etag(f, "t", before);
    fixture_end(f);
    f = start(&s);
    kept_holds(f, "t", "[5.0,6.0]");
    kept_etag(f, "t", after);
    assert_string_equal(before, after);
    kept_expect(f, 404, "GET", "/v2/tensors/next", NULL, NULL);
    fixture_end(f);
    scratch_remove(&s);
}

/* ---------------------------------------------------------------------------------- what fails */

static void expect_failure(struct fixture *f, const char *part)
{
    struct answer a = kept_call(f, "POST", T "/snapshot", NULL, NULL);
    expect_error(&a, 507, "TENSOR_FILE_FAILED", part);
    answer_release(&a);
    fixture_check_alive(f);
}

static void expect_old_file(const struct scratch *s, const char *old, size_t old_size)
{
    size_t size;
    char *bytes = scratch_read(s, "t.safetensors", &size);
    assert_int_equal(size, old_size);
    assert_memory_equal(bytes, old, size);
    free(bytes);
    AWAIT(scratch_count(s) == 1); /* the temporary file of a further attempt may be there */
}

static void a_full_disk_leaves_the_old_file(void **state)
{
    struct scratch s, flag;
    size_t size;
    (void)state;
    if (!PRELOAD_WORKS)
        skip();
    scratch_make(&s);
    scratch_make(&flag);
    setenv("FULL_DISK", scratch_path(&flag, "full"), 1);
    const char *const settings[] = {s.setting, "--snapshot_interval=500ms", NULL};
    void *fixture;
    assert_int_equal(preload_start(&fixture, "full_disk.so", settings), 0);
    unsetenv("FULL_DISK");
    struct fixture *f = fixture;
    AWAIT(server_says(&f->server, "tensors loaded", 1));
    kept_put(f, "t", two);
    save(f);
    char *old = scratch_read(&s, "t.safetensors", &size);
    scratch_write(&flag, "full", "", 0);
    kept_put(f, "t", "{'datatype':'FP32','shape':[2],'data':[3,4]}");
    expect_failure(f, "No space left on device");
    AWAIT(gauge(f, "tensord_snapshots_failed_total") >= 3); /* the server tries again by itself */
    assert_true(server_says(&f->server, "\"no snapshot\"", 3));
    assert_true(gauge(f, "tensord_tensor_unsaved_seconds") > 0);
    expect_old_file(&s, old, size);
    kept_holds(f, "t", "[3.0,4.0]");
    free(old);
    unlink(scratch_path(&flag, "full"));
    AWAIT(gauge(f, "tensord_tensor_unsaved_seconds") == 0);
    /* At the end of the drain nothing can be saved any more: the status says so. */
    scratch_write(&flag, "full", "", 0);
    kept_put(f, "t", "{'datatype':'FP32','shape':[2],'data':[5,6]}");
    old = scratch_read(&s, "t.safetensors", &size);
    server_terminate(&f->server);
    assert_int_equal(server_wait(&f->server), 1);
    client_release(&f->client);
    free(f);
    expect_old_file(&s, old, size);
    free(old);
    scratch_remove(&s);
    scratch_remove(&flag);
}

static void a_file_that_may_not_grow_is_no_end(void **state)
{
    struct scratch s;
    size_t size;
    (void)state;
    scratch_make(&s);
    struct fixture *f = start(&s);
    kept_put(f, "t", two);
    save(f);
    char *old = scratch_read(&s, "t.safetensors", &size);
    const struct rlimit small = {64, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    assert_int_equal(prlimit(f->server.pid, RLIMIT_FSIZE, &small, NULL), 0);
    struct answer a = kept_call(f, "POST", T "/snapshot", NULL, NULL);
    assert_int_equal(prlimit(f->server.pid, RLIMIT_FSIZE, &none, NULL), 0);
    expect_error(&a, 507, "TENSOR_FILE_FAILED", "File too large");
    answer_release(&a);
    expect_old_file(&s, old, size);
    free(old);
    save(f);
    fixture_end(f);
    scratch_remove(&s);
}

static void a_folder_that_vanishes_is_told(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    struct fixture *f = start(&s);
    kept_put(f, "t", two);
    save(f);
    scratch_remove(&s);
    expect_failure(f, "is the folder still there?");
    kept_holds(f, "t", "[1.0,2.0]");
    kept_expect(f, 204, "DELETE", T, NULL, NULL); /* there is no file that would come back */
    fixture_end(f);
}

static void what_may_not_be_written_is_read_only(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    struct fixture *f = start(&s);
    kept_put(f, "t", two);
    kept_put(f, "other", two);
    fixture_end(f);
    assert_int_equal(chmod(scratch_path(&s, "t.safetensors"), 0440), 0);
    f = start(&s);
    kept_expect(f, 403, "DELETE", T, NULL, NULL);
    kept_expect(f, 403, "PUT", T, NULL, two);
    kept_expect(f, 403, "POST", T "/snapshot", NULL, NULL);
    kept_expect(f, 200, "PUT", "/v2/tensors/other", NULL, two);
    kept_holds(f, "t", "[1.0,2.0]");
    fixture_end(f);
    /* Tables in a folder that cannot be written to are loaded all the same; new ones are in memory
     * only. */
    assert_int_equal(chmod(s.path, 0555), 0);
    f = start(&s);
    struct fixture *second = start(&s);
    kept_expect(f, 403, "DELETE", "/v2/tensors/other", NULL, NULL);
    kept_put(f, "new", two);
    struct answer a = kept_call(f, "POST", "/v2/tensors/new/snapshot", NULL, NULL);
    expect_error(&a, 507, "TENSOR_FILE_FAILED", "tensor_dir is read only");
    answer_release(&a);
    kept_drop(f, "new");
    fixture_end(second);
    fixture_end(f);
    scratch_remove(&s);
}

/* A file is never written in place: what has another name, or is behind a link, stays. */
static void other_names_of_a_file_keep_what_they_had(void **state)
{
    struct scratch s, outside;
    size_t size;
    (void)state;
    scratch_make(&s);
    scratch_make(&outside);
    struct fixture *f = start(&s);
    kept_put(f, "t", two);
    save(f);
    char *old = scratch_read(&s, "t.safetensors", &size);
    assert_int_equal(link(scratch_path(&s, "t.safetensors"), scratch_path(&outside, "hard")), 0);
    kept_put(f, "t", "{'datatype':'FP32','shape':[2],'data':[3,4]}");
    save(f);
    size_t found;
    char *bytes = scratch_read(&outside, "hard", &found);
    assert_int_equal(found, size);
    assert_memory_equal(bytes, old, size);
    free(bytes);
    /* A link in the place of the file. */
    unlink(scratch_path(&s, "t.safetensors"));
    assert_int_equal(symlink(scratch_path(&outside, "hard"), scratch_path(&s, "t.safetensors")), 0);
    save(f);
    bytes = scratch_read(&outside, "hard", &found);
    assert_int_equal(found, size);
    assert_memory_equal(bytes, old, size);
    free(bytes);
    free(old);
    struct stat now;
    assert_int_equal(lstat(scratch_path(&s, "t.safetensors"), &now), 0);
    assert_true(S_ISREG(now.st_mode));
    fixture_end(f);
    scratch_remove(&s);
    scratch_remove(&outside);
}

/* A file that has two names, or was copied, is two tensors, which never have the same tag. */
static void a_copied_file_is_another_tensor(void **state)
{
    struct scratch s;
    char first[128], second[128];
    (void)state;
    scratch_make(&s);
    struct fixture *f = start(&s);
    kept_put(f, "t", two);
    fixture_end(f);
    assert_int_equal(link(scratch_path(&s, "t.safetensors"), scratch_path(&s, "u.safetensors")), 0);
    f = start(&s);
    kept_holds(f, "u", "[1.0,2.0]");
    kept_etag(f, "t", first);
    kept_etag(f, "u", second);
    assert_int_not_equal(strncmp(first, second, 17), 0);
    kept_put(f, "t", "{'datatype':'FP32','shape':[2],'data':[3,4]}");
    save(f);
    fixture_end(f);
    f = start(&s);
    kept_holds(f, "t", "[3.0,4.0]");
    kept_holds(f, "u", "[1.0,2.0]");
    fixture_end(f);
    scratch_remove(&s);
}

static void what_a_death_left_is_swept(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    scratch_write(&s, ".tensord-new-7", "half", 4);
    scratch_write(&s, ".somebody-else", "whole", 5);
    struct fixture *f = start(&s);
    assert_false(scratch_has(&s, ".tensord-new-7"));
    assert_true(scratch_has(&s, ".somebody-else"));
    fixture_end(f);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_is_a_safetensors_file),
        cmocka_unit_test(a_restart_finds_all_of_it),
        cmocka_unit_test(a_death_rolls_back_under_a_new_epoch),
        cmocka_unit_test(what_was_written_is_saved_after_the_interval),
        cmocka_unit_test(what_is_dropped_stays_dropped),
        cmocka_unit_test(a_move_takes_the_file_along),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(a_file_that_may_not_grow_is_no_end),
        cmocka_unit_test(a_folder_that_vanishes_is_told),
        cmocka_unit_test(what_may_not_be_written_is_read_only),
        cmocka_unit_test(other_names_of_a_file_keep_what_they_had),
        cmocka_unit_test(a_copied_file_is_another_tensor),
        cmocka_unit_test(what_a_death_left_is_swept),
    };
    return cmocka_run_group_tests_name("files_snapshot", tests, NULL, NULL);
}
