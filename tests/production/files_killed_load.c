/* The process dies, as by kill -9, before and after every system call that a snapshot, a DELETE, a
 * move and the end of a drain make: after the next start each table is as it was before or as it
 * was to be, bit for bit, with its keys, and nothing else lies in the folder.
 *
 *   files_killed_load [ROUNDS]
 *
 * With ROUNDS so many deaths, at calls that are drawn; else each call of each once. */
#include "tests/support/http/kept.h"
#include "tests/support/http/preload.h"
#include "tests/support/http/scratch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_STAGES = 64 };

static int rounds;

static struct fixture *start(const struct scratch *s, int stage)
{
    const char *const settings[] = {s->setting, "--snapshot_interval=0", "--log_requests=false",
                                    NULL};
    char at[16];
    void *f;
    snprintf(at, sizeof at, "%d", stage);
    setenv("KILL_AT", at, 1);
    assert_int_equal(stage < 0 ? fixture_start_with(&f, settings)
                               : preload_start(&f, "kill_at.so", settings),
                     0);
    unsetenv("KILL_AT");
    assert_true(server_says(&((struct fixture *)f)->server, "tensors loaded", 1));
    return f;
}

/* Waits for its end; true when it was killed. */
static bool await_end(struct fixture *f)
{
    siginfo_t ended = {0};
    assert_int_equal(waitid(P_PID, (id_t)f->server.pid, &ended, WEXITED), 0);
    unlink(f->server.log_path);
    client_release(&f->client);
    free(f);
    if (ended.si_code != CLD_KILLED && ended.si_status != 0)
        fail_msg("the server ended with status %d", ended.si_status);
    return ended.si_code == CLD_KILLED;
}

/* Ends the server without a drain, which takes longer and would save tensors. */
static void drop(struct fixture *f)
{
    kill(f->server.pid, SIGKILL);
    await_end(f);
}

/* One request of which an answer need not come; its status, or 0. */
static int try(struct fixture *f, const char *method, const char *path)
{
    struct answer a;
    if (!client_call(&f->client, &(struct call){.method = method, .path = path}, &a))
        return 0;
    int status = a.status;
    answer_release(&a);
    return status;
}

#define ADD "{'inputs':{'indices':[[0],[1]],'updates':[1,1]}}"

static void add(struct fixture *f, const char *name, const char *key)
{
    char target[128], header[64];
    snprintf(target, sizeof target, "tensor_scatter_add/infer?tensor=%s&into=%s", name, name);
    snprintf(header, sizeof header, "Idempotency-Key: %s", key);
    struct answer a = kept_infer(f, target, header, ADD);
    if (a.status != 200)
        fail_msg("%s", a.body);
    answer_release(&a);
}

/* Whether the key stands for a write that the table has: then it is answered again. */
static bool knows(struct fixture *f, const char *name, const char *key)
{
    char target[128], header[64];
    snprintf(target, sizeof target, "tensor_scatter_add/infer?tensor=%s&into=%s", name, name);
    snprintf(header, sizeof header, "Idempotency-Key: %s", key);
    struct answer a = kept_infer(f, target, header, ADD);
    assert_int_equal(a.status, 200);
    bool is_replayed = answer_header(&a, "Idempotent-Replayed") != NULL;
    answer_release(&a);
    return is_replayed;
}

static bool exists(struct fixture *f, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/v2/tensors/%s", name);
    return try(f, "GET", path) == 200;
}

/* The table's elements as text, into `text` of 256 bytes. */
static void elements(struct fixture *f, const char *name, char *text)
{
    char path[128];
    snprintf(path, sizeof path, "/v2/tensors/%s/data", name);
    struct answer a = kept_call(f, "GET", path, "Accept: application/json", NULL);
    assert_int_equal(a.status, 200);
    snprintf(text, 256, "%s", strstr(a.body, "\"data\":"));
    text[strcspn(text, "}")] = '\0';
    answer_release(&a);
}

static bool holds(struct fixture *f, const char *name, const char *data)
{
    char text[256], wanted[256];
    elements(f, name, text);
    snprintf(wanted, sizeof wanted, "\"data\":%s", data);
    return strcmp(text, wanted) == 0;
}

/* What a drain leaves of the table t, which is [1, 1], written under the key `first`, and of next,
 * which is [7, 7]. */
static struct {
    char *bytes;
    size_t size;
} table, next, list;

static int make_files(void **state)
{
    struct scratch s;
    (void)state;
    if (!PRELOAD_WORKS)
        return 0;
    scratch_make(&s);
    struct fixture *f = start(&s, -1);
    kept_put(f, "t", "{'datatype':'FP32','shape':[2],'data':[0,0]}");
    add(f, "t", "first");
    kept_put(f, "next", "{'datatype':'FP32','shape':[2],'data':[7,7]}");
    fixture_end(f);
    assert_int_equal(scratch_count(&s), 3);
    table.bytes = scratch_read(&s, "t.safetensors", &table.size);
    next.bytes = scratch_read(&s, "next.safetensors", &next.size);
    list.bytes = scratch_read(&s, ".tensord-clean", &list.size);
    scratch_remove(&s);
    return 0;
}

static int free_files(void **state)
{
    (void)state;
    free(table.bytes);
    free(next.bytes);
    free(list.bytes);
    return 0;
}

static void prepare(struct scratch *s)
{
    scratch_make(s);
    scratch_write(s, "t.safetensors", table.bytes, table.size);
    scratch_write(s, ".tensord-clean", list.bytes, list.size);
}

/* A story is played once for each stage at which the process dies; false when that stage was not
 * reached. */
typedef bool story(int stage);

static int stages_of(story *tell)
{
    static struct {
        story *tell;
        int stages;
    } known[16];
    for (int i = 0;; i++) {
        if (known[i].tell == tell)
            return known[i].stages;
        if (known[i].tell)
            continue;
        known[i].tell = tell;
        while (tell(known[i].stages))
            assert_true(++known[i].stages < MOST_STAGES);
        return known[i].stages;
    }
}

static void tell_all(story *tell, int at_least)
{
    if (!PRELOAD_WORKS)
        skip();
    int stages = stages_of(tell);
    if (stages < at_least)
        fail_msg("only %d stages were reached", stages);
    for (int i = 0; i < rounds; i++)
        assert_true(tell(rand() % stages));
}

/* ---------------------------------------------------------------------------------- the stories */

/* After a snapshot that was not finished: [1, 1] or [2, 2], and the keys of just that. */
static void expect_old_or_new(const struct scratch *s, bool was_answered)
{
    struct fixture *f = start(s, -1);
    assert_int_equal(scratch_count(s), 1);
    bool is_new = holds(f, "t", "[2.0,2.0]");
    if (!is_new && !holds(f, "t", "[1.0,1.0]"))
        fail_msg("neither the old table nor the new one");
    if (was_answered && !is_new)
        fail_msg("a snapshot that was answered is lost");
    assert_true(knows(f, "t", "first"));
    assert_int_equal(knows(f, "t", "second"), is_new);
    assert_true(holds(f, "t", "[2.0,2.0]")); /* applied once, whether it was lost or not */
    drop(f);
}

static bool a_snapshot(int stage)
{
    struct scratch s;
    prepare(&s);
    struct fixture *f = start(&s, stage);
    add(f, "t", "second");
    int status = try(f, "POST", "/v2/tensors/t/snapshot");
    if (status == 200 && stage >= 0 && server_running(&f->server))
        server_terminate(&f->server);
    bool was_killed = await_end(f);
    if (status == 200 || was_killed)
        expect_old_or_new(&s, status == 200);
    scratch_remove(&s);
    return status == 0;
}

/* An epoch goes on only where no version was lost. */
static bool a_drain(int stage)
{
    struct scratch s;
    char before[128], after[128];
    prepare(&s);
    struct fixture *f = start(&s, stage);
    add(f, "t", "second");
    kept_etag(f, "t", before);
    server_terminate(&f->server);
    bool was_killed = await_end(f);
    f = start(&s, -1);
    kept_etag(f, "t", after);
    if (strcmp(before, after) == 0)
        assert_true(holds(f, "t", "[2.0,2.0]"));
    else
        assert_true(was_killed);
    drop(f);
    expect_old_or_new(&s, !was_killed);
    scratch_remove(&s);
    return was_killed;
}

static bool a_delete(int stage)
{
    struct scratch s;
    prepare(&s);
    struct fixture *f = start(&s, stage);
    int status = try(f, "DELETE", "/v2/tensors/t");
    if (status != 0)
        server_terminate(&f->server);
    bool was_killed = await_end(f);
    f = start(&s, -1);
    if (exists(f, "t"))
        assert_true(status == 0 && knows(f, "t", "first") && holds(f, "t", "[1.0,1.0]"));
    drop(f);
    scratch_remove(&s);
    return status == 0 && was_killed;
}

/* `next`, in a file or not, takes the name of `t`. */
static bool move(int stage, bool is_saved)
{
    struct scratch s;
    prepare(&s);
    if (is_saved)
        scratch_write(&s, "next.safetensors", next.bytes, next.size);
    struct fixture *f = start(&s, stage);
    if (!is_saved)
        kept_put(f, "next", "{'datatype':'FP32','shape':[2],'data':[7,7]}");
    int status = try(f, "PUT", "/v2/tensors/t?move=next");
    if (status != 0)
        server_terminate(&f->server);
    bool was_killed = await_end(f);
    f = start(&s, -1);
    bool is_moved = holds(f, "t", "[7.0,7.0]");
    if (!is_moved && !(status == 0 && holds(f, "t", "[1.0,1.0]")))
        fail_msg("neither the old table nor the one that took its name");
    assert_int_equal(exists(f, "next"), is_saved && !is_moved);
    drop(f);
    scratch_remove(&s);
    return status == 0 && was_killed;
}

static bool a_move_of_a_file(int stage)
{
    return move(stage, true);
}

static bool a_move_without_a_file(int stage)
{
    return move(stage, false);
}

static void killed_in_a_snapshot(void **state)
{
    (void)state;
    tell_all(a_snapshot, 14);
}

static void killed_at_the_end_of_a_drain(void **state)
{
    (void)state;
    tell_all(a_drain, 26);
}

static void killed_in_a_delete(void **state)
{
    (void)state;
    tell_all(a_delete, 4);
}

static void killed_in_a_move(void **state)
{
    (void)state;
    tell_all(a_move_of_a_file, 4);
    tell_all(a_move_without_a_file, 12);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_in_a_snapshot),
        cmocka_unit_test(killed_at_the_end_of_a_drain),
        cmocka_unit_test(killed_in_a_delete),
        cmocka_unit_test(killed_in_a_move),
    };
    rounds = argc > 1 ? atoi(argv[1]) / 5 : 0;
    return cmocka_run_group_tests_name("files_killed_load", tests, make_files, free_files);
}
