/* TLS: new certificates of the server while requests come, and certificates of clients. */
#include "tests/support/http/crowd.h"
#include "tests/support/http/tls_server.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { CLIENTS = 16, ROUNDS = 12, RELOADS = 10 };

static void a_new_certificate_is_taken_for_new_connections(void **state)
{
    const struct call_tls tls = {.authority = made.authority_path};
    struct call call = {.path = "/v2/health/live", .tls = &tls};
    struct fixture *f = *state;
    struct answer a = fixture_call(f, &call);

    answer_release(&a);
    tls_issue("server", PKI_SERVER, made.other, TLS_DAY);
    tls_reload(f, 1);
    tls_expect_computed(f, made.other_path);
    assert_false(tls_call(f, tls_infer, &tls, &a));
    a = fixture_call(f, &call); /* the connection from before */
    assert_int_equal(a.status, 200);
    assert_int_equal(client_connects(&f->client), 0);
    answer_release(&a);
}

static void a_certificate_that_is_wrong_is_not_taken(void **state)
{
    struct fixture *f = *state;

    assert_true(pki_write(&made.pki, "server.pem", "nothing", 7));
    tls_reload(f, 2);
    assert_true(server_says(&f->server, "tokens or certificates kept", 1));
    tls_expect_computed(f, made.other_path);
    tls_issue("spare", PKI_SERVER, made.other, TLS_DAY);
    tls_issue("server", PKI_SERVER, made.other, TLS_DAY);
    assert_int_equal(rename(pki_path(&made.pki, "spare.key", (char[PKI_PATH_MAX]){0}),
                            pki_path(&made.pki, "server.key", (char[PKI_PATH_MAX]){0})),
                     0);
    tls_reload(f, 3);
    assert_true(server_says(&f->server, "does not belong", 1));
    tls_expect_computed(f, made.other_path);
    tls_issue("server", PKI_SERVER, made.authority, TLS_DAY);
    tls_reload(f, 4);
    tls_expect_computed(f, made.authority_path);
}

struct tally {
    struct fixture *f;
    const struct call_tls *tls;
    int asked[CLIENTS], heard, reloads;
};

static bool say(void *context, int member, struct call *call)
{
    struct tally *t = context;

    *call = (struct call){.path = "/v2/models/tensor_scatter_add/infer",
                          .headers = {"Connection: close"},
                          .body = tls_sum,
                          .size = strlen(tls_sum),
                          .tls = t->tls};
    return t->asked[member]++ < ROUNDS;
}

static bool hear(void *context, int member, const struct answer *a)
{
    struct tally *t = context;

    (void)member;
    if (a == NULL || a->status != 200)
        return false;
    if (++t->heard % (CLIENTS * ROUNDS / RELOADS) == 0) {
        tls_issue("server", PKI_SERVER, made.authority, TLS_DAY);
        kill(t->f->server.pid, SIGHUP);
        t->reloads++;
    }
    return true;
}

static void no_request_is_lost_while_certificates_change(void **state)
{
    const struct call_tls tls = {.authority = made.authority_path};
    struct tally t = {.f = *state, .tls = &tls};
    const struct crowd crowd = {
        .port = t.f->server.port, .members = CLIENTS, .context = &t, .ask = say, .hear = hear};

    assert_true(crowd_run(&crowd));
    assert_int_equal(t.heard, CLIENTS * ROUNDS);
    assert_true(t.reloads >= RELOADS);
}

static void expect_forbidden(struct fixture *f, const char *name, const char *why)
{
    char certificate[PKI_PATH_MAX], key[PKI_PATH_MAX], file[80];
    struct call_tls tls = {.authority = made.authority_path};
    struct answer a;

    if (name != NULL) {
        snprintf(file, sizeof(file), "%s.pem", name);
        tls.certificate = pki_path(&made.pki, file, certificate);
        snprintf(file, sizeof(file), "%s.key", name);
        tls.key = pki_path(&made.pki, file, key);
    }
    assert_true(tls_call(f, tls_infer, &tls, &a));
    expect_error(&a, 403, "FORBIDDEN", why);
    answer_release(&a);
}

static void a_client_without_a_certificate_may_not(void **state)
{
    expect_forbidden(*state, NULL, "none was shown");
}

static void a_client_with_a_wrong_certificate_may_not(void **state)
{
    tls_issue("stranger", PKI_CLIENT, made.other, TLS_DAY);
    tls_issue("late", PKI_CLIENT, made.authority, -TLS_DAY);
    tls_issue("turncoat", PKI_SERVER, made.authority, TLS_DAY);
    expect_forbidden(*state, "stranger", "not signed by an authority");
    expect_forbidden(*state, "late", "expired");
    expect_forbidden(*state, "turncoat", "not valid here");
}

static void a_client_with_its_certificate_may(void **state)
{
    char certificate[PKI_PATH_MAX], key[PKI_PATH_MAX];
    const struct call_tls tls = {made.authority_path,
                                 pki_path(&made.pki, "friend.pem", certificate),
                                 pki_path(&made.pki, "friend.key", key)};
    const struct call call = {.path = "/v2/models/tensor_scatter_add/infer",
                              .body = tls_sum,
                              .size = strlen(tls_sum),
                              .tls = &tls};

    tls_issue("friend", PKI_CLIENT, made.authority, TLS_DAY);
    for (int i = 0; i < 2; i++) {
        struct answer a = fixture_call(*state, &call);

        expect_json(&a, tls_sum_answer);
        answer_release(&a);
    }
}

static void health_needs_no_certificate(void **state)
{
    const struct call_tls tls = {.authority = made.authority_path};
    struct answer a;

    assert_true(tls_call(*state, "/v2/health/ready", &tls, &a));
    assert_int_equal(a.status, 200);
    answer_release(&a);
    assert_true(tls_call(*state, "/v2", &tls, &a));
    expect_error(&a, 403, "FORBIDDEN", "");
    answer_release(&a);
}

int main(void)
{
    /* In this order: certificates change. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_certificate_is_taken_for_new_connections),
        cmocka_unit_test(a_certificate_that_is_wrong_is_not_taken),
        cmocka_unit_test(no_request_is_lost_while_certificates_change),
    };
    const struct CMUnitTest certified[] = {
        cmocka_unit_test(a_client_without_a_certificate_may_not),
        cmocka_unit_test(a_client_with_a_wrong_certificate_may_not),
        cmocka_unit_test(a_client_with_its_certificate_may),
        cmocka_unit_test(health_needs_no_certificate),
    };

    return cmocka_run_group_tests_name("certificates", tests, tls_start, tls_stop) +
           cmocka_run_group_tests_name("clients' certificates", certified, tls_start_certified,
                                       tls_stop);
}
