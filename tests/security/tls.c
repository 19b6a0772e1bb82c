/* TLS: versions, suites and protocols, and what connections of all kinds come to. */
#include "server/net/health.h"
#include "tests/support/http/tls_server.h"

#include <gnutls/gnutls.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { MOMENT_MS = 100, FLOATS = 4 << 20 };

static void a_request_is_answered(void **state)
{
    tls_expect_computed(*state, made.authority_path);
}

static void who_trusts_another_authority_is_not_served(void **state)
{
    const struct call_tls tls = {.authority = made.other_path};
    struct answer a;

    assert_false(tls_call(*state, tls_infer, &tls, &a));
    tls_expect_computed(*state, made.authority_path);
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

/* RFC 8446, 6.2 and RFC 7301, 3.2: a handshake that cannot succeed ends in an alert that says
 * why. */
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
    tls_expect_computed(*state, made.authority_path);
}

static void plain_http_is_told_so(void **state)
{
    struct answer a = fixture_exchange(*state, "GET /v2 HTTP/1.1\r\nHost: t\r\n\r\n", 29);

    expect_error(&a, 400, "INVALID_HEADER", "https://");
    expect_header(&a, "Connection", "close");
    answer_release(&a);
    assert_true(server_says(&((struct fixture *)*state)->server, "speaks TLS", 1));
    tls_expect_computed(*state, made.authority_path);
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
    tls_expect_computed(*state, made.authority_path);
}

static void large_tensors_pass_both_ways(void **state)
{
    static float tensor[FLOATS];
    const int32_t index = FLOATS - 1;
    const float update = 5;
    const struct part parts[] = {{"tensor", "FP32", "[4194304]", tensor, sizeof(tensor)},
                                 {"indices", "INT32", "[1,1]", &index, sizeof(index)},
                                 {"updates", "FP32", "[1]", &update, sizeof(update)}};
    const struct call_tls tls = {.authority = made.authority_path};
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

/* Whether it is closed within a moment; a connection that was accepted stays open for longer. */
static bool is_closed(const struct raw *r)
{
    struct pollfd p = {.fd = r->fd, .events = POLLIN};

    return poll(&p, 1, MOMENT_MS) > 0;
}

/* The limit is 64; a burst may pass it by those that no thread has seen yet. */
static void a_connection_too_many_is_just_closed(void **state)
{
    struct raw all[2 * TLS_CONNECTIONS];
    int count = 0;
    bool closed = false;

    while (!closed && count < 2 * TLS_CONNECTIONS) {
        all[count] = fixture_raw(*state);
        closed = ++count >= TLS_CONNECTIONS && is_closed(&all[count - 1]);
    }
    assert_true(closed);
    assert_true(raw_ended(&all[count - 1])); /* nothing came before the end */
    for (int i = 0; i < count; i++)
        raw_close(&all[i]);
    while (shake_hands(*state, "NORMAL", NULL).version == 0)
        ; /* until there is room again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_answered),
        cmocka_unit_test(who_trusts_another_authority_is_not_served),
        cmocka_unit_test(versions_suites_and_protocols),
        cmocka_unit_test(plain_http_is_told_so),
        cmocka_unit_test(what_is_neither_ends_the_connection),
        cmocka_unit_test(large_tensors_pass_both_ways),
        cmocka_unit_test(health_can_be_asked),
        cmocka_unit_test(a_connection_too_many_is_just_closed),
    };

    return cmocka_run_group_tests_name("TLS", tests, tls_start, tls_stop);
}
