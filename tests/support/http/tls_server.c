#include "tests/support/http/tls_server.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

struct tls_made made;

const char tls_infer[] = "/v2/models/tensor_scatter_add/infer";
const char tls_sum[] = "{\"inputs\":{\"tensor\":[1,2],\"indices\":[[0]],\"updates\":[10]}}";
const char tls_sum_answer[] =
    "{'model_name':'tensor_scatter_add','model_version':'1','outputs':[{'name':'output',"
    "'datatype':'FP32','shape':[2],'data':[11.0,2.0]}]}";

void tls_issue(const char *name, enum pki_kind kind, const struct identity *issuer, long to)
{
    struct identity *identity = pki_issue(&made.pki, name, kind, issuer, -2L * TLS_DAY, to);

    assert_non_null(identity);
    identity_free(identity);
}

static bool make_authorities(void)
{
    if (!pki_open(&made.pki))
        return false;
    made.authority = pki_issue(&made.pki, "authority", PKI_AUTHORITY, NULL, -3L * TLS_DAY, TLS_DAY);
    made.other = pki_issue(&made.pki, "other", PKI_AUTHORITY, NULL, -3L * TLS_DAY, TLS_DAY);
    pki_path(&made.pki, "authority.pem", made.authority_path);
    pki_path(&made.pki, "other.pem", made.other_path);
    return made.authority != NULL && made.other != NULL;
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
    tls_issue("server", PKI_SERVER, made.authority, TLS_DAY);
    snprintf(cert, sizeof(cert), "--tls_cert=%s", pki_path(&made.pki, "server.pem", path));
    snprintf(key, sizeof(key), "--tls_key=%s", pki_path(&made.pki, "server.key", path));
    snprintf(clients, sizeof(clients), "--tls_client_ca=%s", made.authority_path);
    return fixture_start_with(state, settings);
}

int tls_start(void **state)
{
    return start_with(state, false);
}

int tls_start_certified(void **state)
{
    return start_with(state, true);
}

int tls_stop(void **state)
{
    int status = fixture_stop(state);

    identity_free(made.authority);
    identity_free(made.other);
    pki_close(&made.pki);
    return status;
}

bool tls_call(struct fixture *f, const char *path, const struct call_tls *tls, struct answer *a)
{
    struct call call = {.path = path, .tls = tls};
    struct client client;
    bool answered;

    if (strstr(path, "infer") != NULL) {
        call.body = tls_sum;
        call.size = strlen(tls_sum);
    }
    assert_true(client_init(&client, f->server.port));
    answered = client_call(&client, &call, a);
    if (!answered)
        answer_release(a);
    client_release(&client);
    return answered;
}

void tls_expect_computed(struct fixture *f, const char *trusted)
{
    const struct call_tls tls = {.authority = trusted};
    struct answer a;

    assert_true(tls_call(f, tls_infer, &tls, &a));
    expect_json(&a, tls_sum_answer);
    answer_release(&a);
}

void tls_reload(struct fixture *f, int times)
{
    kill(f->server.pid, SIGHUP);
    assert_true(server_says(&f->server, "\"settings loaded\"", times));
}
