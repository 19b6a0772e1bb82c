/* What the settings bound: each limit holds exactly, and the error names it. */
#include "tests/support/http/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECTIONS = 8 };

static int start(void **state)
{
    static const char *const settings[] = {"--max_output=64K", "--max_body=1M", "--max_json=256K",
                                           "--max_connections=8", NULL};

    return fixture_start_with(state, settings);
}

static struct answer zeros(void **state, int count, const char *datatype, bool binary)
{
    char json[512];

    snprintf(json, sizeof(json),
             "{'inputs':[{'name':'indices','datatype':'INT32','shape':[0,1],'data':[]},"
             "{'name':'updates','datatype':'%s','shape':[0],'data':[]},"
             "{'name':'shape','datatype':'INT64','shape':[1],'data':[%d]}],"
             "'parameters':{'binary_data_output':%s}}",
             datatype, count, binary ? "true" : "false");
    return fixture_json(*state, "scatter_nd", json);
}

/* In JSON the elements count with the longest text that their type has, and the list with its
 * brackets. */
static void an_output_may_have_max_output_bytes(void **state)
{
    static const struct {
        const char *datatype;
        int most;
        bool binary;
    } rows[] = {
        {"FP32", 65536 / 4, true},   {"INT8", 65536, true},       {"FP64", 65536 / 8, true},
        {"FP32", 65534 / 15, false}, {"FP64", 65534 / 25, false}, {"INT64", 65534 / 21, false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer a = zeros(state, rows[i].most, rows[i].datatype, rows[i].binary);

        if (a.status != 200)
            print_error("%d of %s: %s\n", rows[i].most, rows[i].datatype, a.body);
        assert_int_equal(a.status, 200);
        answer_release(&a);
        a = zeros(state, rows[i].most + 16, rows[i].datatype, rows[i].binary);
        expect_error(&a, 413, "OUTPUT_TOO_LARGE", "max_output");
        if (!rows[i].binary)
            expect_part(&a, "binary");
        answer_release(&a);
    }
}

static void a_body_may_have_max_body_bytes(void **state)
{
    enum { MOST = 1 << 20 };
    char *body = calloc(1, MOST + 1);

    assert_non_null(body);
    for (int more = 0; more <= 1; more++) {
        struct answer a = fixture_call(
            *state, &(struct call){.path = "/v2/models/scatter_nd/infer",
                                   .headers = {"Inference-Header-Content-Length: 2", "Expect:"},
                                   .body = body,
                                   .size = (size_t)MOST + (size_t)more});

        if (more == 0)
            expect_error(&a, 400, "INVALID_JSON", "");
        else
            expect_error(&a, 413, "PAYLOAD_TOO_LARGE", "max_body");
        answer_release(&a);
    }
    free(body);
}

static void a_chunked_body_may_have_max_body_bytes(void **state)
{
    enum { MOST = 1 << 20 };
    char *body = calloc(1, MOST + 1);

    assert_non_null(body);
    for (int more = 0; more <= 1; more++) {
        struct answer a = fixture_call(
            *state, &(struct call){.path = "/v2/models/scatter_nd/infer",
                                   .headers = {"Inference-Header-Content-Length: 2", "Expect:"},
                                   .body = body,
                                   .size = (size_t)MOST + (size_t)more,
                                   .chunked = true});

        if (more == 0)
            expect_error(&a, 400, "INVALID_JSON", "");
        else
            expect_error(&a, 413, "PAYLOAD_TOO_LARGE", "max_body");
        answer_release(&a);
    }
    free(body);
}

/* After max_body, 16 MiB are read away, and then a lingering connection takes 1 GiB at most. */
static void a_body_without_an_end_is_cut_off(void **state)
{
    enum { CHUNK = 1 << 20, MOST = 2048 };
    struct raw r = fixture_raw(*state);
    char *chunk = calloc(1, CHUNK);
    int sent = 0;

    assert_non_null(chunk);
    assert_true(raw_puts(&r, "POST /v2/models/scatter_nd/infer HTTP/1.1\r\nHost: t\r\n"
                             "Inference-Header-Content-Length: 2\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n"));
    while (sent < MOST && raw_puts(&r, "100000\r\n") && raw_send(&r, chunk, CHUNK) &&
           raw_puts(&r, "\r\n"))
        sent++;
    assert_in_range(sent, 16, MOST - 1);
    free(chunk);
    raw_close(&r);
    fixture_check_alive(*state);
}

static void the_limits_are_told(void **state)
{
    static const char part[] = "'limits':{'max_body':1048576,'max_json':262144,"
                               "'max_output':65536,'max_rank':16}";
    struct answer a = fixture_call(*state, &(struct call){.path = "/v2"});

    expect_part(&a, part);
    answer_release(&a);
}

/* Whether the connection is served; one beyond the limit gets a canned 503 and its end. */
static bool is_served(struct raw *r)
{
    struct answer a;
    bool served;

    assert_true(raw_puts(r, "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n"));
    assert_true(raw_read(r, &a, false));
    served = a.status == 200;
    if (!served) {
        expect_error(&a, 503, "RESOURCE_EXHAUSTED", "max_connections");
        assert_non_null(answer_header(&a, "Retry-After"));
        assert_true(raw_ended(r));
    }
    answer_release(&a);
    return served;
}

static void connections_beyond_the_limit_are_told_so(void **state)
{
    struct fixture *f = *state;
    struct raw all[CONNECTIONS + 4];
    int served = 0;

    /* The fixture's own connection counts, so it is closed first. */
    client_release(&f->client);
    assert_true(client_init(&f->client, f->server.port));
    for (int i = 0; i < CONNECTIONS + 4; i++) {
        all[i] = fixture_raw(f);
        served += is_served(&all[i]);
    }
    assert_in_range(served, CONNECTIONS - 1, CONNECTIONS);
    for (int i = 0; i < CONNECTIONS + 4; i++)
        raw_close(&all[i]);
    for (int tries = 0; tries < 1000; tries++) {
        struct raw r = fixture_raw(f);
        bool again = is_served(&r);

        raw_close(&r);
        if (again)
            break;
        assert_true(tries < 999);
    }
    fixture_check_alive(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_may_have_max_output_bytes),
        cmocka_unit_test(a_body_may_have_max_body_bytes),
        cmocka_unit_test(a_chunked_body_may_have_max_body_bytes),
        cmocka_unit_test(a_body_without_an_end_is_cut_off),
        cmocka_unit_test(the_limits_are_told),
        cmocka_unit_test(connections_beyond_the_limit_are_told_so),
    };

    return cmocka_run_group_tests_name("limits", tests, start, fixture_stop);
}
