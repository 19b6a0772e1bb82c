/* Every allocation fails in turn while connections shake hands, tokens are looked at and files are
 * read again: nobody gets in who may not, and the next one is served as ever. */
#include "tests/support/http/gauge.h"
#include "tests/support/http/pki.h"
#include "tests/support/http/preload.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECTING = 160, RELOADING = 40, DAY = 24 * 60 * 60 };

static const char sum[] = "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[0]],\"updates\":[10]}}";
static const char tokens[] = "alice:open-sesame rate=1000000/s\nbob:hush-hush\n";

static atomic_long *left; /* the server's allocations until one fails; 0: none does */
static struct pki pki;
static char authority[PKI_PATH_MAX];
static int tls_port;

static bool make_files(void)
{
    struct identity *made = pki_open(&pki) ? pki_issue(&pki, "a", PKI_SERVER, NULL, 0, DAY) : NULL;

    if (made == NULL)
        return false;
    identity_free(made);
    pki_path(&pki, "a.pem", authority);
    return pki_write(&pki, "tokens", tokens, sizeof(tokens) - 1);
}

static int start(void **state)
{
    char file[PKI_PATH_MAX], settings[3][PKI_PATH_MAX + 16];
    const char *const list[] = {"--listen=127.0.0.1:0,tls:127.0.0.1:0",
                                "--client_share=50",
                                "--trusted_proxies=127.0.0.1",
                                settings[0],
                                settings[1],
                                settings[2],
                                NULL};
    int failed;

    assert_true(make_files());
    snprintf(settings[0], sizeof(settings[0]), "--tls_cert=%s", pki_path(&pki, "a.pem", file));
    snprintf(settings[1], sizeof(settings[1]), "--tls_key=%s", pki_path(&pki, "a.key", file));
    snprintf(settings[2], sizeof(settings[2]), "--tokens=%s", pki_path(&pki, "tokens", file));
    failed = starve_start(state, list, &left);
    if (!failed)
        tls_port = server_port(&((struct fixture *)*state)->server, "tls:127.0.0.1:");
    return failed;
}

static int stop(void **state)
{
    int status = fixture_stop(state);

    pki_close(&pki);
    return status;
}

/* The status of a request over TLS on a connection of its own; 0 when none came. A 200 must have
 * the right result. */
static int ask(const char *authorization)
{
    const struct call_tls tls = {.authority = authority};
    struct call call = {.path = "/v2/models/tensor_scatter_add/infer",
                        .headers = {authorization, "X-Forwarded-For: 203.0.113.1"},
                        .body = sum,
                        .size = sizeof(sum) - 1,
                        .tls = &tls};
    struct client client;
    struct answer a;
    int status;

    assert_true(client_init(&client, tls_port));
    status = client_call(&client, &call, &a) ? a.status : 0;
    if (status == 200)
        expect_part(&a, "'data':[11.0,2.0]");
    answer_release(&a);
    client_release(&client);
    return status;
}

static void a_connection_that_finds_no_memory_is_no_way_in(void **state)
{
    struct fixture *f = *state;
    double used = gauge(f, "tensord_memory_used_bytes");
    int suffered = 0;

    for (int i = 2; i <= CONNECTING; i++) {
        bool is_known = i % 2 == 0;
        int n = i / 2, status;

        atomic_store(left, n);
        status = ask(is_known ? "Authorization: Bearer hush-hush" : "Authorization: Bearer wrong");
        atomic_store(left, 0);
        suffered += status != (is_known ? 200 : 401);
        if (status != 0 && status != 503 && status != 500 && status != (is_known ? 200 : 401))
            fail_msg("allocation %d: status %d", n, status);
    }
    assert_true(suffered > 5);
    assert_int_equal(ask("Authorization: Bearer hush-hush"), 200);
    gauge_settle(f, "tensord_memory_used_bytes", used);
}

static void files_that_find_no_memory_are_not_taken(void **state)
{
    struct fixture *f = *state;
    int times = 0;

    for (int n = 1; n <= RELOADING; n++) {
        atomic_store(left, n);
        kill(f->server.pid, SIGHUP);
        assert_true(server_says(&f->server, "\"msg\":\"settings ", ++times));
        atomic_store(left, 0);
        assert_int_equal(ask("Authorization: Bearer open-sesame"), 200);
        assert_int_equal(ask("Authorization: Bearer wrong"), 401);
    }
    assert_true(server_says(&f->server, "tokens or certificates kept", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_that_finds_no_memory_is_no_way_in),
        cmocka_unit_test(files_that_find_no_memory_are_not_taken),
    };

    if (!PRELOAD_WORKS) {
        puts("a sanitizer has allocations of its own");
        return 77;
    }
    return cmocka_run_group_tests_name("out of memory", tests, start, stop);
}
