/* tensor_dir: what is loaded at start, what is refused, and what is told meanwhile. */
#include "tests/support/http/fixture.h"
#include "tests/support/http/preload.h"
#include "tests/support/http/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const float numbers[] = {1, 2, 3, 4, 5, 6};

#define F32(NAME, SHAPE, FROM, TO)                                                                 \
    "'" NAME "':{'dtype':'F32','shape':[" SHAPE "],'data_offsets':[" #FROM "," #TO "]}"

static void write_one(const struct scratch *s, const char *file)
{
    scratch_tensors(s, file, "{" F32("x", "3,2", 0, 24) "}", numbers, sizeof numbers);
}

static struct answer ask(struct fixture *f, const char *method, const char *path, const char *body)
{
    return fixture_call(f, &(struct call){.method = method,
                                          .path = path,
                                          .headers = {"Content-Type: application/json"},
                                          .body = body,
                                          .size = body ? strlen(body) : 0});
}

static void await_ready(struct fixture *f)
{
    for (int i = 0, status = 0; status != 200; i++) {
        struct answer a = ask(f, "GET", "/v2/health/ready", NULL);
        status = a.status;
        answer_release(&a);
        assert_true(i < 10000);
    }
}

static struct fixture *start(const struct scratch *s)
{
    const char *const settings[] = {s->setting, NULL};
    void *f;
    assert_int_equal(fixture_start_with(&f, settings), 0);
    await_ready(f);
    return f;
}

static void expect_data(struct fixture *f, const char *name, const char *body)
{
    char path[160];
    snprintf(path, sizeof path, "/v2/tensors/%s/data", name);
    struct answer a =
        fixture_call(f, &(struct call){.path = path, .headers = {"Accept: application/json"}});
    expect_json(&a, body);
    answer_release(&a);
}

static const char all_six[] = "{'datatype':'FP32','shape':[3,2],'data':[1.0,2.0,3.0,4.0,5.0,6.0]}";

static void a_file_is_loaded_under_its_name(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    write_one(&s, "emb.safetensors");
    scratch_write(&s, "notes.txt", "no tensor", 9);
    scratch_write(&s, ".hidden.safetensors", "no tensor", 9);
    struct fixture *f = start(&s);
    expect_data(f, "emb", all_six);
    struct answer a = ask(f, "GET", "/v2/tensors", NULL);
    expect_part(&a, "\"name\":\"emb\"");
    expect_part(&a, "\"read_only\":true");
    expect_part(&a, "],\"next\":null");
    assert_null(strstr(a.body, "hidden"));
    answer_release(&a);
    a = ask(f, "POST", "/v2/models/gather_nd/infer?tensor=emb", "{\"inputs\":{\"indices\":[[2]]}}");
    expect_part(&a, "\"data\":[5.0,6.0]");
    answer_release(&a);
    fixture_end(f);
    scratch_remove(&s);
}

static void several_tensors_in_a_file_have_its_name_in_front(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    scratch_tensors(
        &s, "m.safetensors",
        "{'__metadata__':{'format':'pt'}," F32("layer.0", "2", 0, 8) "," F32(
            "inputs", "1,3", 12, 24) "," F32("data", "", 8, 12) "," F32("none", "0,7", 24, 24) "}",
        numbers, sizeof numbers);
    struct fixture *f = start(&s);
    expect_data(f, "m.layer.0", "{'datatype':'FP32','shape':[2],'data':[1.0,2.0]}");
    expect_data(f, "m.data", "{'datatype':'FP32','shape':[],'data':[3.0]}");
    expect_data(f, "m.inputs", "{'datatype':'FP32','shape':[1,3],'data':[4.0,5.0,6.0]}");
    expect_data(f, "m.none", "{'datatype':'FP32','shape':[0,7],'data':[]}");
    struct answer a = ask(f, "GET", "/v2/tensors/m", NULL);
    expect_error(&a, 404, "TENSOR_NOT_FOUND", "");
    answer_release(&a);
    fixture_end(f);
    /* A tensor's own file goes before a part of another file. */
    write_one(&s, "m.data.safetensors");
    f = start(&s);
    expect_data(f, "m.data", all_six);
    fixture_end(f);
    scratch_remove(&s);
}

static void a_foreign_file_is_read_only(void **state)
{
    static const struct {
        const char *method, *path, *body;
    } writes[] = {
        {"DELETE", "/v2/tensors/emb", NULL},
        {"PUT", "/v2/tensors/emb", "{\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1]}"},
        {"PATCH", "/v2/tensors/emb", "{\"ttl\":\"1h\"}"},
        {"PUT", "/v2/tensors/other?move=emb", NULL},
        {"PUT", "/v2/tensors/emb?move=other", NULL},
        {"PUT", "/v2/tensors/emb/data?rows=0:1",
         "{\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[1,2]}"},
        {"POST", "/v2/models/tensor_scatter_add/infer?tensor=emb&into=emb",
         "{\"inputs\":{\"indices\":[[0]],\"updates\":[[1,1]]}}"},
        {"POST", "/v2/models/gather_nd/infer?tensor=other&into=emb",
         "{\"inputs\":{\"indices\":[[0]]}}"},
    };
    struct scratch s;
    (void)state;
    scratch_make(&s);
    write_one(&s, "emb.safetensors");
    struct fixture *f = start(&s);
    struct answer a =
        ask(f, "PUT", "/v2/tensors/other", "{\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1]}");
    assert_int_equal(a.status, 201);
    answer_release(&a);
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        a = ask(f, writes[i].method, writes[i].path, writes[i].body);
        expect_error(&a, 403, "FORBIDDEN", "is read only: it comes from a file");
        answer_release(&a);
    }
    expect_data(f, "emb", all_six);
    expect_data(f, "other", "{'datatype':'FP32','shape':[1],'data':[1.0]}");
    fixture_end(f);
    scratch_remove(&s);
}

/* ------------------------------------------------------------------------------------- refusals */

/* A start ends with status 1 and this sentence, as does --check-config. */
static void expect_refusal(const struct scratch *s, const char *more, const char *part)
{
    const char *const starts[][4] = {{s->setting, more, NULL},
                                     {s->setting, "--check-config", more, NULL}};
    for (int i = 0; i < 2; i++) {
        char *text;
        int status = server_refuse(starts[i], &text);
        if (status != 1 || !text || !strstr(text, part))
            fail_msg("status %d; expected: %s; printed: %s", status, part, text);
        free(text);
    }
}

/* A file of ours, as far as its metadata says. */
#define META(GENERATION, EPOCH, VERSION, TTL)                                                      \
    "{'__metadata__':{'tensord.generation':'" GENERATION "',"                                      \
    "'tensord.epoch':'" EPOCH "','tensord.version':'" VERSION "',"                                 \
    "'tensord.created':'0','tensord.ttl':'" TTL "'}," F32("x", "6", 0, 24) "}"

static void a_damaged_file_stops_the_start(void **state)
{
    static const struct {
        const char *header;
        size_t size;
        const char *part;
    } files[] = {
        {"{" F32("x", "3,2", 0, 24) "}", 20,
         "it has 20 bytes of data, but its tensors need 24: it is cut short"},
        {"{" F32("x", "5", 0, 20) "}", 24, "it has 24 bytes of data, but its tensors need 20"},
        {"{" F32("x", "3,3", 0, 24) "}", 24, "tensor \"x\": there are 24 bytes of elements"},
        {"{" F32("x", "2", 0, 8) "," F32("y", "3", 12, 24) "}", 24,
         "tensor \"y\" begins at byte 12"},
        {"{'x':{'dtype':'F8_E4M3','shape':[24],'data_offsets':[0,24]}}", 24,
         "tensor \"x\": datatype"},
        {"{'x':{'dtype':'F32','shape':[6]}}", 24, "tensor \"x\""},
        {"{'x':7}", 0, "tensor \"x\""},
        {"{}", 0, "it has no tensor"},
        {"{'__metadata__':{'a':1}," F32("x", "6", 0, 24) "}", 24, "a member of __metadata__"},
        {"{'x':", 0, "JSON"},
        {"{'__metadata__':{'tensord.generation':'12'}," F32("x", "6", 0, 24) "}", 24,
         "tensord.epoch of __metadata__ is \"missing\""},
        {META("12", "1", "99999999999999999999", "0"), 24,
         "tensord.version of __metadata__ is \"99999999999999999999\""},
        {META("12", "1", "1", "18446744073709551615"), 24,
         "tensord.ttl of __metadata__ is \"18446744073709551615\""},
        {META("12345678901234567", "1", "1", "0"), 24,
         "tensord.generation of __metadata__ is \"12345678901234567\""},
        {"{" F32("a/b", "3", 0, 12) "," F32("c", "3", 12, 24) "}", 24,
         "'emb.a/b' is no tensor's name"},
    };
    struct scratch s;
    (void)state;
    scratch_make(&s);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        scratch_tensors(&s, "emb.safetensors", files[i].header, numbers, files[i].size);
        expect_refusal(&s, NULL, files[i].part);
    }
    scratch_write(&s, "emb.safetensors", "hello", 5);
    expect_refusal(&s, NULL, "emb.safetensors: it has 5 bytes");
    scratch_write(&s, "emb.safetensors", "hello, this is no tensor", 24);
    expect_refusal(&s, NULL, "emb.safetensors: it is no safetensors file");
    scratch_write(&s, "emb.safetensors", "\xF8\0\0\0\0\0\0\0{", 9);
    expect_refusal(&s, NULL,
                   "emb.safetensors: it is cut short: its header has 248 bytes, of which 1 are "
                   "there");
    scratch_write(&s, "emb.safetensors", "", 0);
    expect_refusal(&s, NULL, "emb.safetensors: it has 0 bytes");
    scratch_remove(&s);
}

static void what_is_no_plain_file_of_ours_stops_the_start(void **state)
{
    struct scratch s;
    (void)state;
    scratch_make(&s);
    write_one(&s, "emb.safetensors");
    assert_int_equal(symlink("emb.safetensors", scratch_path(&s, "link.safetensors")), 0);
    expect_refusal(&s, NULL, "link.safetensors is a link");
    unlink(scratch_path(&s, "link.safetensors"));
    assert_int_equal(mkfifo(scratch_path(&s, "pipe.safetensors"), 0600), 0);
    expect_refusal(&s, NULL, "pipe.safetensors is a pipe");
    unlink(scratch_path(&s, "pipe.safetensors"));
    assert_int_equal(mkdir(scratch_path(&s, "sub.safetensors"), 0700), 0);
    expect_refusal(&s, NULL, "sub.safetensors is a folder");
    rmdir(scratch_path(&s, "sub.safetensors"));
    write_one(&s, "a b.safetensors");
    expect_refusal(&s, NULL, "a b.safetensors: 'a b' is no tensor's name");
    unlink(scratch_path(&s, "a b.safetensors"));
    scratch_tensors(&s, "m.safetensors", "{" F32("n.o", "3", 0, 12) "," F32("p", "3", 12, 24) "}",
                    numbers, sizeof numbers);
    scratch_tensors(&s, "m.n.safetensors", "{" F32("o", "3", 0, 12) "," F32("p", "3", 12, 24) "}",
                    numbers, sizeof numbers);
    expect_refusal(&s, NULL, "m.n.safetensors and m.safetensors both have a tensor 'm.n.o'");
    scratch_remove(&s);
    expect_refusal(&s, NULL, "cannot open");
}

static void bounds_stop_the_start(void **state)
{
    static char zeros[100000];
    struct scratch s;
    (void)state;
    scratch_make(&s);
    write_one(&s, "emb.safetensors");
    scratch_tensors(&s, "big.safetensors",
                    "{'x':{'dtype':'U8','shape':[100000],'data_offsets':[0,100000]}}", zeros,
                    sizeof zeros);
    expect_refusal(&s, "--tensor_memory=100K", "tensor_memory is 102400");
    expect_refusal(&s, "--tensor_memory=0", "tensor_memory is 0");
    expect_refusal(&s, "--tensors_max=1", "it has 2 tensors; tensors_max is 1");
    scratch_remove(&s);
}

static void a_folder_has_one_writer(void **state)
{
    struct scratch s;
    char *text;
    (void)state;
    scratch_make(&s);
    write_one(&s, "emb.safetensors");
    struct fixture *f = start(&s);
    assert_int_equal(server_refuse((const char *const[]){s.setting, NULL}, &text), 1);
    assert_non_null(strstr(text, "another tensord writes to"));
    free(text);
    /* --check-config does not lock the folder. */
    assert_int_equal(server_refuse((const char *const[]){s.setting, "--check-config", NULL}, &text),
                     0);
    free(text);
    fixture_check_alive(f);
    fixture_end(f);
    scratch_remove(&s);
}

/* --------------------------------------------------------------------------------- a long load */

/* Starts a server that cannot read its files as long as the file `slow` is there. */
static struct fixture *start_slowly(struct scratch *s)
{
    enum { BYTES = 80 << 20 };
    char *zeros = calloc(1, BYTES);
    void *f;
    scratch_make(s);
    assert_non_null(zeros);
    scratch_tensors(s, "emb.safetensors",
                    "{'x':{'dtype':'U8','shape':[83886080],'data_offsets':[0,83886080]}}", zeros,
                    BYTES);
    free(zeros);
    const char *const settings[] = {s->setting, "--tensor_memory=200M", NULL};
    scratch_write(s, "slow", "", 0);
    setenv("SLOW_DISK", scratch_path(s, "slow"), 1);
    assert_int_equal(preload_start(&f, "slow_disk.so", settings), 0);
    unsetenv("SLOW_DISK");
    return f;
}

static void a_load_is_told_and_nothing_is_taken_meanwhile(void **state)
{
    struct scratch s;
    (void)state;
    if (!PRELOAD_WORKS)
        skip();
    struct fixture *f = start_slowly(&s);
    struct answer a = ask(f, "GET", "/v2/health/ready", NULL);
    assert_int_equal(a.status, 503);
    expect_part(&a, "\"ready\":false,\"error\":\"starting: loaded 0 of 1 tensors, 0 of 83 MB\"");
    answer_release(&a);
    a = ask(f, "GET", "/v2/health/live", NULL);
    assert_int_equal(a.status, 200);
    answer_release(&a);
    static const struct {
        const char *method, *path, *body;
    } early[] = {
        {"GET", "/v2/tensors/emb", NULL},
        {"GET", "/v2/tensors", NULL},
        {"PUT", "/v2/tensors/emb", "{\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1]}"},
        {"POST", "/v2/models/gather_nd/infer?tensor=emb", "{\"inputs\":{\"indices\":[[2]]}}"}};
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
        a = ask(f, early[i].method, early[i].path, early[i].body);
        expect_error(&a, 503, "RESOURCE_EXHAUSTED", "it loads the tensors of tensor_dir");
        assert_non_null(answer_header(&a, "Retry-After"));
        answer_release(&a);
    }
    unlink(scratch_path(&s, "slow"));
    assert_true(server_says(&f->server, "tensors loaded", 1));
    await_ready(f);
    fixture_check_alive(f);
    fixture_end(f);
    scratch_remove(&s);
}

static void a_signal_ends_a_load(void **state)
{
    struct scratch s;
    (void)state;
    if (!PRELOAD_WORKS)
        skip();
    struct fixture *f = start_slowly(&s);
    server_terminate(&f->server);
    unlink(scratch_path(&s, "slow"));
    assert_true(server_says(&f->server, "ending before the start", 1));
    fixture_end(f);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_loaded_under_its_name),
        cmocka_unit_test(several_tensors_in_a_file_have_its_name_in_front),
        cmocka_unit_test(a_foreign_file_is_read_only),
        cmocka_unit_test(a_damaged_file_stops_the_start),
        cmocka_unit_test(what_is_no_plain_file_of_ours_stops_the_start),
        cmocka_unit_test(bounds_stop_the_start),
        cmocka_unit_test(a_folder_has_one_writer),
        cmocka_unit_test(a_load_is_told_and_nothing_is_taken_meanwhile),
        cmocka_unit_test(a_signal_ends_a_load),
    };
    return cmocka_run_group_tests_name("files_load", tests, NULL, NULL);
}
