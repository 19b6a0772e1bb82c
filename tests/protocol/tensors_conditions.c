/* What keeps writes of resident tensors apart, over HTTP: entity tags and conditions, keys,
 * positions, leases. */
#include "tests/support/http/kept.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int start(void **state)
{
    static const char *const settings[] = {"--tensor_keys=6", NULL};
    return fixture_start_with(state, settings);
}

static void conditions_are_kept(void **state)
{
    struct fixture *f = *state;
    char match[160];
    kept_put(f, "a", "{'datatype':'INT8','shape':[2],'data':[1,2]}");
    struct answer a = kept_call(f, "GET", "/v2/tensors/a", NULL, NULL);
    snprintf(match, sizeof match, "If-Match: %s", answer_header(&a, "ETag"));
    answer_release(&a);

    a = kept_infer(f, "tensor_scatter_add/infer?tensor=a&into=a", match,
                   "{'inputs':{'indices':[[0]],'updates':[1]}}");
    assert_int_equal(a.status, 200);
    answer_release(&a);
    static const struct {
        const char *method, *path, *body;
    } rows[] = {{"PUT", "/v2/tensors/a", "{'datatype':'INT8','data':[9]}"},
                {"PUT", "/v2/tensors/a?move=b", NULL},
                {"PUT", "/v2/tensors/a/data?rows=0:1", "{'datatype':'INT8','data':[9]}"},
                {"PATCH", "/v2/tensors/a", "{'ttl':'1h'}"},
                {"DELETE", "/v2/tensors/a", NULL},
                {"GET", "/v2/tensors/a/data", NULL},
                {"POST", "/v2/models/tensor_scatter_add/infer?tensor=a&into=a",
                 "{'inputs':{'indices':[[0]],'updates':[1]}}"},
                {"POST", "/v2/models/tensor_scatter_add/infer",
                 "{'inputs':{'indices':[[0]],'updates':[1]},"
                 "'parameters':{'tensor':'a','into':'a'}}"},
                {"POST", "/v2/models/gather_nd/infer?tensor=a", "{'inputs':{'indices':[[0]]}}"}};
    char now[128];
    kept_etag(f, "a", now);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        a = kept_call(f, rows[i].method, rows[i].path, match, rows[i].body);
        if (a.status != 412)
            fail_msg("%s %s: %d %s", rows[i].method, rows[i].path, a.status, a.body);
        expect_error(&a, 412, "PRECONDITION_FAILED", " is at \\\"");
        expect_header(&a, "ETag", now);
        answer_release(&a);
    }
    kept_holds(f, "a", "[2,2]");
    a = kept_call(f, "PUT", "/v2/tensors/b", "If-Match: *", "{'datatype':'INT8','shape':[1]}");
    assert_int_equal(a.status, 412);
    answer_release(&a);
    a = kept_call(f, "DELETE", "/v2/tensors/b", "If-Match: *", NULL);
    assert_int_equal(a.status, 412);
    answer_release(&a);
    a = kept_call(f, "PUT", "/v2/tensors/a", "If-None-Match: *", "{'datatype':'INT8','shape':[1]}");
    assert_int_equal(a.status, 412);
    answer_release(&a);
    kept_drop(f, "a");
}

/* A read of elements that the client has is answered 304, without a body and with the size that
 * they would have. The same condition fails a write or an operation with 412. */
static void a_reader_that_has_it_is_told_so(void **state)
{
    static const struct {
        const char *method, *target, *accept, *size;
    } rows[] = {{"GET", "data", "Accept: */*", "66"}, /* 64 in front, and 2 elements */
                {"GET", "data?rows=1:2", "Accept: */*", "65"},
                {"GET", "data", "Accept: application/octet-stream", "2"},
                {"GET", "data", "Accept: application/json", "45"},
                {"HEAD", "data", "Accept: application/json", "45"},
                {"HEAD", "data", "Accept: */*", "66"}};
    struct fixture *f = *state;
    char etag[128], path[64], none[160], weak[160], match[160];
    kept_put(f, "a", "{'datatype':'INT8','shape':[2],'data':[1,2]}");
    kept_etag(f, "a", etag);
    snprintf(none, sizeof none, "If-None-Match: \"x\", %s", etag);
    snprintf(weak, sizeof weak, "If-None-Match: W/%s", etag);
    snprintf(match, sizeof match, "If-Match: %s", etag);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const conditions[][2] = {
            {none, "A: b"}, {weak, "A: b"}, {"If-None-Match: *", "A: b"}, {none, match}};
        snprintf(path, sizeof path, "/v2/tensors/a/%s", rows[i].target);
        for (size_t n = 0; n < sizeof conditions / sizeof *conditions; n++) {
            struct raw r = fixture_raw(f);
            struct answer a;
            assert_true(raw_printf(
                &r, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s\r\n%s\r\n\r\n", rows[i].method,
                path, rows[i].accept, conditions[n][0], conditions[n][1]));
            assert_true(raw_read(&r, &a, true));
            if (a.status != 304)
                fail_msg("%s, %s: %d", rows[i].accept, conditions[n][0], a.status);
            expect_header(&a, "Content-Length", rows[i].size);
            expect_header(&a, "Transfer-Encoding", NULL);
            expect_header(&a, "Content-Type", NULL);
            expect_header(&a, "ETag", etag);
            expect_header(&a, "Cache-Control", "private, no-cache");
            answer_release(&a);
            /* The next answer begins where this head ended. */
            assert_true(raw_puts(&r, "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"));
            assert_true(raw_read(&r, &a, false));
            assert_int_equal(a.status, 200);
            answer_release(&a);
            raw_close(&r);
        }
    }
    /* The answer is 304 only for rows and tensors that exist, and never for metadata. */
    kept_expect(f, 400, "GET", "/v2/tensors/a/data?rows=1:3", none, NULL);
    kept_expect(f, 404, "GET", "/v2/tensors/nothing/data", none, NULL);
    kept_expect(f, 200, "GET", "/v2/tensors/a", none, NULL);
    kept_expect(f, 200, "GET", "/v2/tensors/a/data", "If-None-Match: \"x\"", NULL);
    kept_expect(f, 412, "POST", "/v2/models/gather_nd/infer?tensor=a", none,
                "{'inputs':{'indices':[[0]]}}");
    kept_expect(f, 412, "DELETE", "/v2/tensors/a", none, NULL);
    kept_drop(f, "a");
}

/* HEAD on every path is answered as GET is, without the body; and OPTIONS lists the methods of a
 * path. */
static void head_is_get_without_a_body(void **state)
{
    static const char *const paths[] = {"/v2/tensors",
                                        "/v2/tensors/a",
                                        "/v2/tensors/a/data",
                                        "/v2/tensors/a/data?rows=1:2",
                                        "/v2/tensors/a/data?rows=7:9",
                                        "/v2/tensors/nothing",
                                        "/v2/systemsharedmemory/status"};
    static const char *const same[] = {"Content-Length", "Content-Type",  "ETag",
                                       "Vary",           "Cache-Control", "Error-Code"};
    struct fixture *f = *state;
    kept_put(f, "a", "{'datatype':'INT8','shape':[2],'data':[1,2]}");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct answer get = kept_call(f, "GET", paths[i], NULL, NULL), head;
        struct raw r = fixture_raw(f);
        assert_true(raw_printf(
            &r, "HEAD %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", paths[i]));
        assert_true(raw_read(&r, &head, true));
        assert_true(raw_ended(&r));
        raw_close(&r);
        assert_int_equal(head.status, get.status);
        for (size_t n = 0; n < sizeof same / sizeof *same; n++)
            expect_header(&head, same[n], answer_header(&get, same[n]));
        answer_release(&get);
        answer_release(&head);
    }
    static const struct {
        const char *path, *allow;
    } rows[] = {{"/v2/tensors", "GET, HEAD, OPTIONS"},
                {"/v2/tensors/a", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"},
                {"/v2/tensors/a/data", "GET, HEAD, PUT, OPTIONS"},
                {"/v2/tensors/a/snapshot", "POST, OPTIONS"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct answer a = kept_call(f, "OPTIONS", rows[i].path, NULL, NULL);
        assert_int_equal(a.status, 204);
        expect_header(&a, "Allow", rows[i].allow);
        answer_release(&a);
        a = kept_call(f, "TRACE", rows[i].path, NULL, NULL);
        expect_error(&a, 405, "METHOD_NOT_ALLOWED", rows[i].allow);
        expect_header(&a, "Allow", rows[i].allow);
        answer_release(&a);
    }
    kept_drop(f, "a");
}

static void a_key_applies_once(void **state)
{
    struct fixture *f = *state;
    static const char path[] = "tensor_scatter_add/infer?tensor=a&into=a";
    static const char body[] = "{'inputs':{'indices':[[0]],'updates':[1]}}";
    kept_put(f, "a", "{'datatype':'INT8','shape':[2],'data':[1,2]}");
    struct answer a = kept_infer(f, path, "Idempotency-Key: \"k\"", body);
    assert_int_equal(a.status, 200);
    expect_header(&a, "Idempotent-Replayed", NULL);
    struct answer again = kept_infer(f, path, "Idempotency-Key: k", body);
    assert_int_equal(again.status, 200);
    expect_header(&again, "Idempotent-Replayed", "true");
    assert_string_equal(a.body, again.body);
    expect_header(&again, "ETag", answer_header(&a, "ETag"));
    answer_release(&a);
    answer_release(&again);
    kept_holds(f, "a", "[2,2]");
    a = kept_infer(f, path, "Idempotency-Key: k", "{'inputs':{'indices':[[1]],'updates':[1]}}");
    expect_error(&a, 422, "IDEMPOTENCY_KEY_REUSED", "another request");
    answer_release(&a);
    /* An error releases the key. */
    a = kept_infer(f, path, "Idempotency-Key: e", "{'inputs':{'indices':[[7]],'updates':[1]}}");
    expect_error(&a, 400, "INDEX_OUT_OF_BOUNDS", "");
    answer_release(&a);
    a = kept_infer(f, path, "Idempotency-Key: e", body);
    assert_int_equal(a.status, 200);
    answer_release(&a);
    /* Keys outlive their tensor, and where there is no room for one more, no young key makes it. */
    kept_drop(f, "a");
    a = kept_infer(f, path, "Idempotency-Key: k", body);
    assert_int_equal(a.status, 200);
    expect_header(&a, "Idempotent-Replayed", "true");
    answer_release(&a);
    for (int i = 0; i < 5; i++) {
        char key[64];
        snprintf(key, sizeof key, "Idempotency-Key: put%d", i);
        a = fixture_call(f, &(struct call){.method = "PUT",
                                           .path = "/v2/tensors/a?datatype=INT8&shape=1",
                                           .headers = {key},
                                           .body = "x",
                                           .size = 1});
        assert_int_equal(a.status, i == 0 ? 201 : i < 4 ? 200 : 503);
        if (i == 4)
            expect_error(&a, 503, "RESOURCE_EXHAUSTED", "tensor_keys");
        answer_release(&a);
    }
    kept_drop(f, "a");
}

/* A key belongs to a name, not to a tensor: the answer to a write is given again whatever became of
 * the tensor. */
static void keys_survive_what_happens_to_the_tensor(void **state)
{
    static const struct {
        const char *method, *path, *body;
    } writes[] = {{"PUT", "/v2/tensors/k", "{'datatype':'INT8','data':[1,2]}"},
                  {"PUT", "/v2/tensors/k/data?rows=0:1", "{'datatype':'INT8','data':[3]}"},
                  {"PATCH", "/v2/tensors/k", "{'ttl':'1h'}"},
                  {"POST", "/v2/models/tensor_scatter_add/infer?tensor=k&into=k",
                   "{'inputs':{'indices':[[1]],'updates':[1]}}"},
                  {"PUT", "/v2/tensors/k?move=k.next", NULL},
                  {"DELETE", "/v2/tensors/k", NULL}};
    enum { WRITES = sizeof writes / sizeof *writes };
    struct fixture *f = *state;
    struct answer first[WRITES];
    char key[64];
    kept_put(f, "k.next", "{'datatype':'INT8','data':[7]}");
    for (int i = 0; i < WRITES; i++) {
        snprintf(key, sizeof key, "Idempotency-Key: w%d", i);
        first[i] = kept_call(f, writes[i].method, writes[i].path, key, writes[i].body);
        if (first[i].status >= 300)
            fail_msg("%s %s: %s", writes[i].method, writes[i].path, first[i].body);
        expect_header(&first[i], "Idempotent-Replayed", NULL);
    }
    for (int i = 0; i < WRITES; i++) {
        snprintf(key, sizeof key, "Idempotency-Key: w%d", i);
        struct answer a = kept_call(f, writes[i].method, writes[i].path, key, writes[i].body);
        assert_int_equal(a.status, first[i].status);
        assert_string_equal(a.body, first[i].body);
        expect_header(&a, "ETag", answer_header(&first[i], "ETag"));
        expect_header(&a, "Idempotent-Replayed", "true");
        answer_release(&a);
        answer_release(&first[i]);
    }
    kept_expect(f, 404, "GET", "/v2/tensors/k", NULL, NULL);
    kept_expect(f, 422, "DELETE", "/v2/tensors/k?x=y", "Idempotency-Key: w0", NULL);
}

/* Sends these values under the position that the tensor has come to; `again`: they were applied
 * before. */
static void is_passed(struct fixture *f, const char *body, bool again)
{
    char *text = quote(body);
    struct answer a = fixture_call(
        f, &(struct call){.method = "POST",
                          .path = "/v2/models/tensor_scatter_add/infer?tensor=r&into=r",
                          .headers = {"Update-Source: log", "Update-Position: 7-0"},
                          .body = text,
                          .size = strlen(text)});
    if (a.status != 200)
        fail_msg("%d %s", a.status, a.body);
    expect_header(&a, "Idempotent-Replayed", again ? "true" : NULL);
    answer_release(&a);
    free(text);
}

/* Values without a datatype have the tensor's, which may be another one when the request is
 * repeated. */
static void a_key_is_older_than_what_the_tensor_became(void **state)
{
    static const char path[] = "tensor_scatter_add/infer?tensor=r&into=r";
    static const char key[] = "Idempotency-Key: before";
    static const char half[] = "{'inputs':{'indices':[[0]],'updates':[0.5]}}";
    static const struct {
        const char *becomes, *code;
    } rows[] = {{"{'datatype':'INT8','data':[1]}", "VALUE_OUT_OF_RANGE"},
                {"{'datatype':'BOOL','data':[true]}", "UNSUPPORTED_DTYPE"}};
    struct fixture *f = *state;
    kept_put(f, "r", "{'datatype':'FP32','data':[1,2]}");
    struct answer first = kept_infer(f, path, key, half);
    assert_int_equal(first.status, 200);
    is_passed(f, half, false);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kept_put(f, "r", rows[i].becomes);
        struct answer a = kept_infer(f, path, key, half);
        if (a.status != 200)
            fail_msg("%s: %d %s", rows[i].becomes, a.status, a.body);
        assert_string_equal(a.body, first.body);
        expect_header(&a, "Idempotent-Replayed", "true");
        answer_release(&a);
        /* The request is wrong without the key or under another one, and another request under the
         * key is wrong too. */
        a = kept_infer(f, path, NULL, half);
        expect_error(&a, 400, rows[i].code, "");
        answer_release(&a);
        a = kept_infer(f, path, "Idempotency-Key: after", half);
        expect_error(&a, 400, rows[i].code, "");
        answer_release(&a);
        a = kept_infer(f, path, key, "{'inputs':{'indices':[[0]],'updates':[0.25]}}");
        expect_error(&a, 422, "IDEMPOTENCY_KEY_REUSED", "");
        answer_release(&a);
        is_passed(f, half, true);
    }
    kept_drop(f, "r");
    struct answer a = kept_infer(f, path, key, half);
    assert_int_equal(a.status, 200);
    expect_header(&a, "Idempotent-Replayed", "true");
    answer_release(&a);
    answer_release(&first);
}

/* A position that is not above the last one is not applied again. */
static void each_write_knows_its_position(void **state)
{
    static const struct {
        const char *method, *path, *body;
    } writes[] = {{"PUT", "/v2/tensors/q", "{'datatype':'INT8','data':[1,2]}"},
                  {"PUT", "/v2/tensors/q/data?rows=0:1", "{'datatype':'INT8','data':[3]}"},
                  {"POST", "/v2/models/scatter_nd/infer?into=q",
                   "{'inputs':{'indices':[[0]],'updates':[1],'shape':[2]}}"},
                  {"PUT", "/v2/tensors/q?move=q.next", NULL},
                  {"PATCH", "/v2/tensors/q", "{'ttl':'1h'}"}};
    struct fixture *f = *state;
    kept_put(f, "q.next", "{'datatype':'INT8','data':[7]}");
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        for (int again = 0; again < 2; again++) {
            char position[64], *text = writes[i].body ? quote(writes[i].body) : NULL;
            snprintf(position, sizeof position, "Update-Position: %zu-5", i);
            struct answer a =
                fixture_call(f, &(struct call){.method = writes[i].method,
                                               .path = writes[i].path,
                                               .headers = {"Update-Source: log", position},
                                               .body = text,
                                               .size = text ? strlen(text) : 0});
            if (a.status >= 300)
                fail_msg("%s %s: %d %s", writes[i].method, writes[i].path, a.status, a.body);
            expect_header(&a, "Idempotent-Replayed", again ? "true" : NULL);
            answer_release(&a);
            free(text);
        }
    struct answer told = kept_call(f, "GET", "/v2/tensors/q", NULL, NULL);
    expect_part(&told, "\"positions\":{\"log\":\"4-5\"}");
    answer_release(&told);
    kept_holds(f, "q", "[7]");
    kept_drop(f, "q");
}

static bool has_lease(struct fixture *f, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/v2/tensors/%s", name);
    struct answer a = kept_call(f, "GET", path, NULL, NULL);
    assert_int_equal(a.status, 200);
    bool has = !strstr(a.body, "\"expires\":null");
    answer_release(&a);
    return has;
}

/* A lease is kept by a write of rows, in place or of a result that replaces the tensor; a PUT sets
 * its own, and a move brings that of the tensor that is moved. A change of the lease alone makes no
 * version. */
static void a_lease_is_kept_or_replaced(void **state)
{
    static const char scatter[] = "{'inputs':{'indices':[[0]],'updates':[1]}}";
    struct fixture *f = *state;
    kept_expect(f, 201, "PUT", "/v2/tensors/l?ttl=1h", NULL, "{'datatype':'INT8','data':[1,2]}");
    assert_true(has_lease(f, "l"));
    kept_expect(f, 200, "PUT", "/v2/tensors/l/data?rows=0:1", NULL,
                "{'datatype':'INT8','data':[3]}");
    assert_true(has_lease(f, "l"));
    kept_expect(f, 200, "POST", "/v2/models/tensor_scatter_add/infer?tensor=l&into=l", NULL,
                scatter);
    assert_true(has_lease(f, "l"));
    kept_expect(f, 200, "POST", "/v2/models/scatter_nd/infer?into=l", NULL,
                "{'inputs':{'indices':[[0]],'updates':[1],'shape':[2]}}");
    assert_true(has_lease(f, "l"));
    char before[128], after[128];
    kept_etag(f, "l", before);
    kept_expect(f, 200, "PATCH", "/v2/tensors/l", NULL, "{'ttl':null}");
    kept_etag(f, "l", after);
    assert_string_equal(before, after);
    assert_false(has_lease(f, "l"));
    kept_expect(f, 201, "PUT", "/v2/tensors/l.next?ttl=1h", NULL, "{'data':[1]}");
    kept_expect(f, 200, "PUT", "/v2/tensors/l?move=l.next", NULL, NULL);
    assert_true(has_lease(f, "l"));
    kept_expect(f, 200, "PUT", "/v2/tensors/l", NULL, "{'data':[1]}");
    assert_false(has_lease(f, "l"));
    kept_drop(f, "l");
}

static void a_position_applies_once(void **state)
{
    struct fixture *f = *state;
    static const char *const positions[] = {"17-0", "17-0", "16-9", "17-1"};
    kept_put(f, "p", "{'datatype':'INT8','shape':[1],'data':[0]}");
    for (int i = 0; i < 4; i++) {
        char position[64];
        snprintf(position, sizeof position, "Update-Position: %s", positions[i]);
        char *text = quote("{'inputs':{'indices':[[0]],'updates':[1]}}");
        struct answer a = fixture_call(
            *state, &(struct call){.path = "/v2/models/tensor_scatter_add/infer?tensor=p&into=p",
                                   .headers = {"Update-Source: log", position},
                                   .body = text,
                                   .size = strlen(text)});
        assert_int_equal(a.status, 200);
        expect_header(&a, "Idempotent-Replayed", i == 1 || i == 2 ? "true" : NULL);
        answer_release(&a);
        free(text);
    }
    kept_holds(f, "p", "[2]");
    struct answer told = kept_call(f, "GET", "/v2/tensors/p", NULL, NULL);
    expect_part(&told, ",\"positions\":{\"log\":\"17-1\"}}");
    answer_release(&told);
    kept_drop(f, "p");
    struct answer list = kept_call(f, "GET", "/v2/tensors", NULL, NULL);
    expect_part(&list, "{\"positions\":{\"log\":\"17-1\"},\"tensors\":");
    answer_release(&list);
}

static void leases_are_set_and_end(void **state)
{
    struct fixture *f = *state;
    struct answer a = kept_call(f, "PUT", "/v2/tensors/l?ttl=300ms", kept_json_type,
                                "{'datatype':'INT8','shape':[1]}");
    assert_int_equal(a.status, 201);
    assert_null(strstr(a.body, "\"expires\":null"));
    answer_release(&a);
    a = kept_call(f, "PATCH", "/v2/tensors/l", kept_json_type, "{'ttl':null}");
    expect_part(&a, "\"expires\":null");
    answer_release(&a);
    a = kept_call(f, "PATCH", "/v2/tensors/l", kept_json_type, "{'ttl':'200ms'}");
    assert_int_equal(a.status, 200);
    expect_part(&a, "\"version\":1,");
    answer_release(&a);
    struct timespec wait = {.tv_nsec = 250 * 1000000};
    nanosleep(&wait, NULL);
    a = kept_call(f, "GET", "/v2/tensors/l", NULL, NULL);
    assert_int_equal(a.status, 404);
    answer_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_are_kept),
        cmocka_unit_test(a_reader_that_has_it_is_told_so),
        cmocka_unit_test(head_is_get_without_a_body),
        cmocka_unit_test(a_key_applies_once),
        cmocka_unit_test(a_position_applies_once),
        cmocka_unit_test(keys_survive_what_happens_to_the_tensor),
        cmocka_unit_test(a_key_is_older_than_what_the_tensor_became),
        cmocka_unit_test(each_write_knows_its_position),
        cmocka_unit_test(a_lease_is_kept_or_replaced),
        cmocka_unit_test(leases_are_set_and_end),
    };
    return cmocka_run_group_tests(tests, start, fixture_stop);
}
