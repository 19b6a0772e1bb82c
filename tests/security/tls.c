/* TLS: versions, certificates on both sides, and new ones while requests come. */
#include "tests/support/http/crowd.h"
#include "tests/support/http/fixture.h"
#include "tests/support/http/pki.h"

#include "server/net/health.h"

#include <gnutls/gnutls.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DAY = 24 * 60 * 60, LIMIT = 64, MOMENT_MS = 100 };
enum { CLIENTS = 16, ROUNDS = 12, RELOADS = 10, FLOATS = 4 << 20 };

static struct pki pki;
static struct identity *authority, *other;
static char authority_path[PKI_PATH_MAX], other_path[PKI_PATH_MAX];

static const char sum[] = "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[0]],\"updates\":[10]}}";
static const char sum_answer[] =
    "{'model_name':'tensor_scatter_add','model_version':'1','outputs':[{'name':'output',"
    "'datatype':'FP32','shape':[2],'data':[11.0,2.0]}]}";

static void issue(const char *name, enum pki_kind kind, const struct identity *issuer, long to)
{
    struct identity *made = pki_issue(&pki, name, kind, issuer, -2L * DAY, to);

    assert_non_null(made);
    identity_free(made);
}

static bool make_authorities(void)
{
    if (!pki_open(&pki))
        return false;
    authority = pki_issue(&pki, "authority", PKI_AUTHORITY, NULL, -3L * DAY, DAY);
    other = pki_issue(&pki, "other", PKI_AUTHORITY, NULL, -3L * DAY, DAY);
    pki_path(&pki, "authority.pem", authority_path);
    pki_path(&pki, "other.pem", other_path);
    return authority != NULL && other != NULL;
}

static int start_with(void **state, bool certified)
{
    char path[PKI_PATH_MAX], cert[PKI_PATH_MAX + 16], key[PKI_PATH_MAX + 16],
        clients[PKI_PATH_MAX + 16];
    const char *settings[] = {"--listen=tls:127.0.0.1:0",
                              "--max_connections=64",
                              cert,
                              key,
                              certified ? clients : NULL,
                              NULL};

    if (!make_authorities())
        return -1;
    issue("server", PKI_SERVER, authority, DAY);
    snprintf(cert, sizeof(cert), "--tls_cert=%s", pki_path(&pki, "server.pem", path));
    snprintf(key, sizeof(key), "--tls_key=%s", pki_path(&pki, "server.key", path));
    snprintf(clients, sizeof(clients), "--tls_client_ca=%s", authority_path);
    return fixture_start_with(state, settings);
}

static int start(void **state)
{
    return start_with(state, false);
}

static int start_certified(void **state)
{
    return start_with(state, true);
}

static int stop(void **state)
{
    int status = fixture_stop(state);

    identity_free(authority);
    identity_free(other);
    pki_close(&pki);
    return status;
}

/* A request over a connection of its own. False when none came about. */
static bool ask(struct fixture *f, const char *path, const struct call_tls *tls, struct answer *a)
{
    struct call call = {.path = path, .tls = tls};
    struct client client;
    bool answered;

    if (strstr(path, "infer") != NULL) {
        call.body = sum;
        call.size = sizeof(sum) - 1;
    }
    assert_true(client_init(&client, f->server.port));
    answered = client_call(&client, &call, a);
    if (!answered)
        answer_release(a);
    client_release(&client);
    return answered;
}

static bool compute(struct fixture *f, const struct call_tls *tls, struct answer *a)
{
    return ask(f, "/v2/models/tensor_scatter_add/infer", tls, a);
}

static void expect_computed(struct fixture *f, const char *trusted)
{
    const struct call_tls tls = {.authority = trusted};
    struct answer a;

    assert_true(compute(f, &tls, &a));
    expect_json(&a, sum_answer);
    answer_release(&a);
}

static void a_request_is_answered(void **state)
{
    expect_computed(*state, authority_path);
}

static void who_trusts_another_authority_is_not_served(void **state)
{
    const struct call_tls tls = {.authority = other_path};
    struct answer a;

    assert_false(compute(*state, &tls, &a));
    expect_computed(*state, authority_path);
}

/* How a handshake ends. */
struct shaken {
    gnutls_protocol_t version; /* 0: in a failure */
    int alert;                 /* that the server sent; -1: none */
};

/* `alpn`: a name that the client offers; NULL: none. */
static struct shaken shake_hands(const struct fixture *f, const char *priorities, const char *alpn)
{
    struct raw r = fixture_raw(f);
    struct shaken shaken = {.alert = -1};
    gnutls_certificate_credentials_t nothing;
    gnutls_session_t session;
    int result;

    assert_int_equal(gnutls_certificate_allocate_credentials(&nothing), 0);
    assert_int_equal(gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL), 0);
    assert_int_equal(gnutls_priority_set_direct(session, priorities, NULL), 0);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, nothing);
    gnutls_transport_set_int(session, r.fd);
    if (alpn) {
        gnutls_datum_t name = {(unsigned char *)(uintptr_t)alpn, (unsigned)strlen(alpn)};
        assert_int_equal(gnutls_alpn_set_protocols(session, &name, 1, 0), 0);
    }
    do
        result = gnutls_handshake(session);
    while (result < 0 && !gnutls_error_is_fatal(result));
    if (result == 0)
        shaken.version = gnutls_protocol_get_version(session);
    else if (result == GNUTLS_E_FATAL_ALERT_RECEIVED)
        shaken.alert = (int)gnutls_alert_get(session);
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(nothing);
    raw_close(&r);
    return shaken;
}

/* RFC 8446, 6.2 and RFC 7301, 3.2: a handshake that cannot succeed ends in an alert that says why.
 */
static void versions_suites_and_protocols(void **state)
{
    static const struct {
        const char *priorities, *alpn;
        gnutls_protocol_t version;
        int alert;
    } rows[] = {
        {"NORMAL", NULL, GNUTLS_TLS1_3, -1},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.3", "http/1.1", GNUTLS_TLS1_3, -1},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2", "http/1.0", GNUTLS_TLS1_2, -1},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.1", NULL, 0, GNUTLS_A_PROTOCOL_VERSION},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.0", NULL, 0, GNUTLS_A_PROTOCOL_VERSION},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+NULL", NULL, 0, GNUTLS_A_HANDSHAKE_FAILURE},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2:-CIPHER-ALL:+ARCFOUR-128", NULL, 0,
         GNUTLS_A_HANDSHAKE_FAILURE},
        {"NORMAL", "h2", 0, GNUTLS_A_NO_APPLICATION_PROTOCOL},
        {"NORMAL:-VERS-ALL:+VERS-TLS1.2", "h2", 0, GNUTLS_A_NO_APPLICATION_PROTOCOL},
        {"NORMAL", "http/1.", 0, GNUTLS_A_NO_APPLICATION_PROTOCOL},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct shaken shaken = shake_hands(*state, rows[i].priorities, rows[i].alpn);

        if (shaken.version != rows[i].version || shaken.alert != rows[i].alert)
            fail_msg("%s %s: version %d, alert %d", rows[i].priorities, rows[i].alpn,
                     (int)shaken.version, shaken.alert);
    }
    expect_computed(*state, authority_path);
}

static void plain_http_is_told_so(void **state)
{
    struct answer a = fixture_exchange(*state, "GET /v2 HTTP/1.1\r\nHost: t\r\n\r\n", 29);

    expect_error(&a, 400, "INVALID_HEADER", "https://");
    expect_header(&a, "Connection", "close");
    answer_release(&a);
    assert_true(server_says(&((struct fixture *)*state)->server, "speaks TLS", 1));
    expect_computed(*state, authority_path);
}

static void what_is_neither_ends_the_connection(void **state)
{
    static const char *const texts[] = {"\x01\x02\x03\x04\x05\x06", "\x16\x03\x01\xff\xff", "\x16"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct raw r = fixture_raw(*state);

        assert_true(raw_puts(&r, texts[i]));
        raw_finish(&r);
        while (!raw_ended(&r))
            r.size = 0; /* an alert */
        raw_close(&r);
    }
    expect_computed(*state, authority_path);
}

static void large_tensors_pass_both_ways(void **state)
{
    static float tensor[FLOATS];
    const int32_t index = FLOATS - 1;
    const float update = 5;
    const struct part parts[] = {{"tensor", "FP32", "[4194304]", tensor, sizeof(tensor)},
                                 {"indices", "INT32", "[1,1]", &index, sizeof(index)},
                                 {"updates", "FP32", "[1]", &update, sizeof(update)}};
    const struct call_tls tls = {.authority = authority_path};
    struct fixture *f = *state;
    struct body body;
    struct answer a;
    char length[64];
    size_t size;
    const char *result;

    for (int i = 0; i < FLOATS; i++)
        tensor[i] = (float)i;
    assert_true(body_binary(&body, parts, 3, ",'parameters':{'binary_data_output':true}"));
    snprintf(length, sizeof(length), "Inference-Header-Content-Length: %zu", body.header_length);
    a = fixture_call(f, &(struct call){.path = "/v2/models/tensor_scatter_add/infer",
                                       .headers = {length, "Expect:"},
                                       .body = body.data,
                                       .size = body.size,
                                       .tls = &tls});
    assert_int_equal(a.status, 200);
    result = answer_tensors(&a, &size);
    assert_non_null(result);
    assert_int_equal(size, sizeof(tensor));
    tensor[FLOATS - 1] += update;
    assert_memory_equal(result, tensor, sizeof(tensor));
    answer_release(&a);
    body_release(&body);
}

static void health_can_be_asked(void **state)
{
    const struct fixture *f = *state;
    char address[64];
    struct error error;

    snprintf(address, sizeof(address), "tls:127.0.0.1:%d", f->server.port);
    assert_int_equal(health_ask(address, "", &error), ERROR_NONE);
    snprintf(address, sizeof(address), "127.0.0.1:%d", f->server.port);
    assert_int_equal(health_ask(address, "", &error), ERROR_DRAINING);
}

/* Within a moment: a connection that was taken stays for longer. */
static bool is_closed(const struct raw *r)
{
    struct pollfd p = {.fd = r->fd, .events = POLLIN};

    return poll(&p, 1, MOMENT_MS) > 0;
}

/* The limit is 64; a burst may pass it by those that no thread has seen yet. */
static void a_connection_too_many_is_just_closed(void **state)
{
    struct raw all[2 * LIMIT];
    int count = 0;
    bool closed = false;

    while (!closed && count < 2 * LIMIT) {
        all[count] = fixture_raw(*state);
        closed = ++count >= LIMIT && is_closed(&all[count - 1]);
    }
    assert_true(closed);
    assert_true(raw_ended(&all[count - 1])); /* nothing came before the end */
    for (int i = 0; i < count; i++)
        raw_close(&all[i]);
    while (shake_hands(*state, "NORMAL", NULL).version == 0)
        ; /* until there is room again */
}

static void reload(struct fixture *f, int times)
{
    kill(f->server.pid, SIGHUP);
    assert_true(server_says(&f->server, "\"settings loaded\"", times));
}

static void a_new_certificate_is_taken_for_new_connections(void **state)
{
    const struct call_tls tls = {.authority = authority_path};
    struct call call = {.path = "/v2/health/live", .tls = &tls};
    struct fixture *f = *state;
    struct answer a = fixture_call(f, &call);

    answer_release(&a);
    issue("server", PKI_SERVER, other, DAY);
    reload(f, 1);
    expect_computed(f, other_path);
    assert_false(compute(f, &tls, &a));
    a = fixture_call(f, &call); /* the connection from before */
    assert_int_equal(a.status, 200);
    assert_int_equal(client_connects(&f->client), 0);
    answer_release(&a);
}

static void a_certificate_that_is_wrong_is_not_taken(void **state)
{
    struct fixture *f = *state;

    assert_true(pki_write(&pki, "server.pem", "nothing", 7));
    reload(f, 2);
    assert_true(server_says(&f->server, "tokens or certificates kept", 1));
    expect_computed(f, other_path);
    issue("spare", PKI_SERVER, other, DAY);
    issue("server", PKI_SERVER, other, DAY);
    assert_int_equal(rename(pki_path(&pki, "spare.key", (char[PKI_PATH_MAX]){0}),
                            pki_path(&pki, "server.key", (char[PKI_PATH_MAX]){0})),
                     0);
    reload(f, 3);
    assert_true(server_says(&f->server, "does not belong", 1));
    expect_computed(f, other_path);
    issue("server", PKI_SERVER, authority, DAY);
    reload(f, 4);
    expect_computed(f, authority_path);
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
                          .body = sum,
                          .size = sizeof(sum) - 1,
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
        issue("server", PKI_SERVER, authority, DAY);
        kill(t->f->server.pid, SIGHUP);
        t->reloads++;
    }
    return true;
}

static void no_request_is_lost_while_certificates_change(void **state)
{
    const struct call_tls tls = {.authority = authority_path};
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
    struct call_tls tls = {.authority = authority_path};
    struct answer a;

    if (name != NULL) {
        snprintf(file, sizeof(file), "%s.pem", name);
        tls.certificate = pki_path(&pki, file, certificate);
        snprintf(file, sizeof(file), "%s.key", name);
        tls.key = pki_path(&pki, file, key);
    }
    assert_true(compute(f, &tls, &a));
    expect_error(&a, 403, "FORBIDDEN", why);
    answer_release(&a);
}

static void a_client_without_a_certificate_may_not(void **state)
{
    expect_forbidden(*state, NULL, "none was shown");
}

static void a_client_with_a_wrong_certificate_may_not(void **state)
{
    issue("stranger", PKI_CLIENT, other, DAY);
    issue("late", PKI_CLIENT, authority, -DAY);
    issue("turncoat", PKI_SERVER, authority, DAY);
    expect_forbidden(*state, "stranger", "not signed by an authority");
    expect_forbidden(*state, "late", "expired");
    expect_forbidden(*state, "turncoat", "not valid here");
}

static void a_client_with_its_certificate_may(void **state)
{
    char certificate[PKI_PATH_MAX], key[PKI_PATH_MAX];
    const struct call_tls tls = {authority_path, pki_path(&pki, "friend.pem", certificate),
                                 pki_path(&pki, "friend.key", key)};
    const struct call call = {.path = "/v2/models/tensor_scatter_add/infer",
                              .body = sum,
                              .size = sizeof(sum) - 1,
                              .tls = &tls};

    issue("friend", PKI_CLIENT, authority, DAY);
    for (int i = 0; i < 2; i++) {
        struct answer a = fixture_call(*state, &call);

        expect_json(&a, sum_answer);
        answer_release(&a);
    }
}

static void health_needs_no_certificate(void **state)
{
    const struct call_tls tls = {.authority = authority_path};
    struct answer a;

    assert_true(ask(*state, "/v2/health/ready", &tls, &a));
    assert_int_equal(a.status, 200);
    answer_release(&a);
    assert_true(ask(*state, "/v2", &tls, &a));
    expect_error(&a, 403, "FORBIDDEN", "");
    answer_release(&a);
}

int main(void)
{
    /* In this order: certificates change at the end. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_answered),
        cmocka_unit_test(who_trusts_another_authority_is_not_served),
        cmocka_unit_test(versions_suites_and_protocols),
        cmocka_unit_test(plain_http_is_told_so),
        cmocka_unit_test(what_is_neither_ends_the_connection),
        cmocka_unit_test(large_tensors_pass_both_ways),
        cmocka_unit_test(health_can_be_asked),
        cmocka_unit_test(a_connection_too_many_is_just_closed),
        cmocka_unit_test(a_new_certificate_is_taken_for_new_connections),
        cmocka_unit_test(a_certificate_that_is_wrong_is_not_taken),
        cmocka_unit_test(no_request_is_lost_while_certificates_change),
    };
    const struct CMUnitTest certified_tests[] = {
        cmocka_unit_test(a_client_without_a_certificate_may_not),
        cmocka_unit_test(a_client_with_a_wrong_certificate_may_not),
        cmocka_unit_test(a_client_with_its_certificate_may),
        cmocka_unit_test(health_needs_no_certificate),
    };

    return cmocka_run_group_tests_name("TLS", tests, start, stop) +
           cmocka_run_group_tests_name("clients' certificates", certified_tests, start_certified,
                                       stop);
}
