/* Memory: no kind of peak leaves anything behind once the server is idle. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/pki.h"
#include "tests/support/http/preload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ELEMENTS = 32 << 20, SLACK_KB = 12 << 10 };

static int start(void **state)
{
    static const char *const settings[] = {"--max_connections=4000", NULL};
    return fixture_start_with(state, settings);
}

static void send_large(struct fixture *f)
{
    static const int32_t index = 7;
    static const float update = 1;
    float *tensor = calloc(ELEMENTS, sizeof *tensor);
    const struct part parts[] = {
        {"tensor", "FP32", "[33554432]", tensor, (size_t)ELEMENTS * sizeof *tensor},
        {"indices", "INT32", "[1,1]", &index, sizeof index},
        {"updates", "FP32", "[1]", &update, sizeof update},
    };
    struct body body;
    struct answer a;
    size_t size;
    assert_true(body_binary(&body, parts, 3, ",'parameters':{'binary_data_output':true}"));
    assert_true(client_binary(&f->client, "tensor_scatter_add", &body, &a));
    assert_int_equal(a.status, 200);
    const float *out = (const float *)answer_tensors(&a, &size);
    assert_int_equal(size, (size_t)ELEMENTS * sizeof *tensor);
    assert_true(out[7] == 1 && out[8] == 0);
    answer_release(&a);
    body_release(&body);
    free(tensor);
}

static long resident_kb(const struct fixture *f)
{
    return server_memory_kb(&f->server, "VmRSS");
}

static void expect_back(struct fixture *f, long before)
{
    for (int tries = 0; resident_kb(f) > before + SLACK_KB; tries++) {
        if (tries == 300)
            fail_msg("idle: %ld kB, before: %ld kB", resident_kb(f), before);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    fixture_check_alive(f);
}

static void large_requests(void **state)
{
    struct fixture *f = *state;
    fixture_check_alive(f);
    long before = resident_kb(f);
    for (int i = 0; i < 3; i++)
        send_large(f);
    assert_true(resident_kb(f) > before + SLACK_KB);
    expect_back(f, before);
    assert_true(gauge(f, "tensord_memory_cached_bytes") < SLACK_KB * 1024.0);
}

/* A sanitizer has allocations of its own, and keeps what is freed. */
static void need_malloc(void)
{
    if (!PRELOAD_WORKS)
        skip();
}

/* Each connection has had an answer, so that it has taken all of its memory. */
static void a_crowd_of_connections(void **state)
{
    enum { CROWD = 3000 };
    static struct raw raw[CROWD];
    need_malloc();
    struct fixture *f = *state;
    long before = resident_kb(f);
    for (int i = 0; i < CROWD; i++) {
        struct answer a;
        raw[i] = fixture_raw(f);
        assert_true(raw_puts(&raw[i], "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n"));
        assert_true(raw_read(&raw[i], &a, false));
        assert_int_equal(a.status, 200);
        answer_release(&a);
        free(raw[i].buffer);
        raw[i].buffer = NULL;
        raw[i].capacity = raw[i].size = 0;
    }
    assert_true(resident_kb(f) > before + SLACK_KB);
    for (int i = 0; i < CROWD; i++)
        raw_close(&raw[i]);
    expect_back(f, before);
}

static void many_uploads_at_once(void **state)
{
    enum { CROWD = 800, BODY = 60000 };
    static struct raw raw[CROWD];
    static char body[BODY];
    need_malloc();
    struct fixture *f = *state;
    long before = resident_kb(f);
    for (int i = 0; i < CROWD; i++) {
        raw[i] = fixture_raw(f);
        assert_true(raw_printf(&raw[i],
                               "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                               "Content-Length: %d\r\n\r\n",
                               BODY + 1));
        assert_true(raw_send(&raw[i], body, BODY));
    }
    gauge_settle(f, "tensord_open_requests", CROWD + 1);
    assert_true(resident_kb(f) > before + SLACK_KB);
    for (int i = 0; i < CROWD; i++)
        raw_close(&raw[i]);
    expect_back(f, before);
}

static void large_json(void **state)
{
    enum { NUMBERS = 4 << 20 };
    need_malloc();
    struct fixture *f = *state;
    long before = resident_kb(f);
    char *text = malloc(2 * NUMBERS + 200);
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "{\"inputs\":{\"tensor\":[");
    for (int i = 0; i < NUMBERS; i++) {
        memcpy(text + used, i ? ",1" : "1", i ? 2 : 1);
        used += i ? 2 : 1;
    }
    used += (size_t)sprintf(text + used, "],\"indices\":[[0]],\"updates\":[1]}}");
    struct answer a = fixture_call(
        f,
        &(struct call){.path = "/v2/models/tensor_scatter_add/infer", .body = text, .size = used});
    assert_int_equal(a.status, 200);
    answer_release(&a);
    free(text);
    assert_true(resident_kb(f) > before + SLACK_KB);
    expect_back(f, before);
}

/* A server of its own, since the others' has no certificate. */
static void tls_sessions(void **state)
{
    enum { CROWD = 400, DAY = 24 * 60 * 60 };
    static struct client clients[CROWD];
    struct pki pki;
    char authority[PKI_PATH_MAX], path[PKI_PATH_MAX], cert[PKI_PATH_MAX + 16],
        key[PKI_PATH_MAX + 16];
    void *own;
    need_malloc();
    (void)state;
    assert_true(pki_open(&pki));
    struct identity *signer = pki_issue(&pki, "authority", PKI_AUTHORITY, NULL, -DAY, DAY);
    struct identity *server = pki_issue(&pki, "server", PKI_SERVER, signer, -DAY, DAY);
    assert_true(signer && server);
    snprintf(cert, sizeof cert, "--tls_cert=%s", pki_path(&pki, "server.pem", path));
    snprintf(key, sizeof key, "--tls_key=%s", pki_path(&pki, "server.key", path));
    const char *const settings[] = {"--listen=tls:127.0.0.1:0,127.0.0.1:0", cert, key, NULL};
    const struct call_tls tls = {.authority = pki_path(&pki, "authority.pem", authority)};
    const struct call call = {.path = "/v2/health/live", .tls = &tls};
    assert_int_equal(fixture_start_with(&own, settings), 0);
    struct fixture *f = own;
    f->server.port = f->client.port = server_port(&f->server, "127.0.0.1:");
    fixture_check_alive(f);
    long before = resident_kb(f);
    for (int i = 0; i < CROWD; i++) {
        struct answer a;
        assert_true(client_init(&clients[i], server_port(&f->server, "tls:127.0.0.1:")));
        assert_true(client_call(&clients[i], &call, &a));
        answer_release(&a);
    }
    assert_true(resident_kb(f) > before + SLACK_KB);
    for (int i = 0; i < CROWD; i++)
        client_release(&clients[i]);
    expect_back(f, before);
    assert_int_equal(fixture_stop(&own), 0);
    identity_free(server);
    identity_free(signer);
    pki_close(&pki);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_requests),       cmocka_unit_test(a_crowd_of_connections),
        cmocka_unit_test(many_uploads_at_once), cmocka_unit_test(large_json),
        cmocka_unit_test(tls_sessions),
    };
    return cmocka_run_group_tests_name("memory goes back when the server is idle, after", tests,
                                       start, fixture_stop);
}
