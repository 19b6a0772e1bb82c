/* TLS: versions, and what connections of all kinds come to. */
#include "server/net/health.h"
#include "tests/support/http/tls_server.h"

#include <gnutls/gnutls.h>
#include <poll.h>
#include <stdio.h>

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

/* The version that both sides agree on, or 0. */
static gnutls_protocol_t shake_hands(const struct fixture *f, const char *priorities)
{
    struct raw r = fixture_raw(f);
    gnutls_certificate_credentials_t nothing;
    gnutls_session_t session;
    gnutls_protocol_t version = 0;
    int result;

    assert_int_equal(gnutls_certificate_allocate_credentials(&nothing), 0);
    assert_int_equal(gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL), 0);
    assert_int_equal(gnutls_priority_set_direct(session, priorities, NULL), 0);
    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, nothing);
    gnutls_transport_set_int(session, r.fd);
    do
        result = gnutls_handshake(session);
    while (result < 0 && !gnutls_error_is_fatal(result));
    if (result == 0)
        version = gnutls_protocol_get_version(session);
    gnutls_deinit(session);
    gnutls_certificate_free_credentials(nothing);
    raw_close(&r);
    return version;
}

static void versions_before_1_2_are_refused(void **state)
{
    const struct fixture *f = *state;

    assert_int_equal(shake_hands(f, "NORMAL"), GNUTLS_TLS1_3);
    assert_int_equal(shake_hands(f, "NORMAL:-VERS-ALL:+VERS-TLS1.3"), GNUTLS_TLS1_3);
    assert_int_equal(shake_hands(f, "NORMAL:-VERS-ALL:+VERS-TLS1.2"), GNUTLS_TLS1_2);
    assert_int_equal(shake_hands(f, "NORMAL:-VERS-ALL:+VERS-TLS1.1"), 0);
    assert_int_equal(shake_hands(f, "NORMAL:-VERS-ALL:+VERS-TLS1.0"), 0);
}

static void what_is_no_tls_ends_the_connection(void **state)
{
    struct raw r = fixture_raw(*state);

    assert_true(raw_puts(&r, "GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n"));
    raw_finish(&r);
    while (!raw_ended(&r))
        r.size = 0; /* an alert */
    raw_close(&r);
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

/* Within a moment: a connection that was taken stays for longer. */
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
    while (shake_hands(*state, "NORMAL") == 0)
        ; /* until there is room again */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_answered),
        cmocka_unit_test(who_trusts_another_authority_is_not_served),
        cmocka_unit_test(versions_before_1_2_are_refused),
        cmocka_unit_test(what_is_no_tls_ends_the_connection),
        cmocka_unit_test(large_tensors_pass_both_ways),
        cmocka_unit_test(health_can_be_asked),
        cmocka_unit_test(a_connection_too_many_is_just_closed),
    };

    return cmocka_run_group_tests_name("TLS", tests, tls_start, tls_stop);
}
