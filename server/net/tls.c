#include "server/net/tls.h"

#include "server/net/hello.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <sys/socket.h>

const char tls_priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE";

static int give_none(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
                     gnutls_pcert_st **certificates, unsigned *count, gnutls_ocsp_data_st **ocsp,
                     unsigned *ocsp_count, gnutls_privkey_t *key, unsigned *flags)
{
    (void)session, (void)info, (void)certificates, (void)count;
    (void)ocsp, (void)ocsp_count, (void)key, (void)flags;
    return -1;
}

void (*const tls_no_certificate)(void) = (void (*)(void))give_none;

struct tls_credentials {
    int references; /* under the lock of struct tls */
    bool wants_client;
    gnutls_certificate_credentials_t gnutls;
    struct suites suites;
};

void tls_init(struct tls *tls)
{
    *tls = (struct tls){.current = NULL};
    pthread_mutex_init(&tls->lock, NULL);
}

void tls_release(struct tls *tls)
{
    tls_detach(tls, tls->current);
    pthread_mutex_destroy(&tls->lock);
}

static enum error_code refuse_file(const char *what, const char *path, int reason,
                                   struct error *error)
{
    return error_set(error, ERROR_INVALID_PARAMETER, NULL, "%s %.150s: %s", what, path,
                     gnutls_strerror(reason));
}

static enum error_code read_files(struct tls_credentials *credentials,
                                  const struct tls_files *files, struct error *error)
{
    gnutls_certificate_credentials_t gnutls = credentials->gnutls;
    int result = gnutls_certificate_set_x509_key_file(gnutls, files->certificate, files->key,
                                                      GNUTLS_X509_FMT_PEM);
    if (result == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return refuse_file("tls_key does not belong to the certificate: tls_cert",
                           files->certificate, result, error);
    if (result < 0)
        return error_set(error, ERROR_INVALID_PARAMETER, NULL,
                         "cannot read tls_cert %.150s or tls_key %.150s: %s", files->certificate,
                         files->key, gnutls_strerror(result));
    if (!*files->client_ca)
        return ERROR_NONE;
    credentials->wants_client = true;
    result = gnutls_certificate_set_x509_trust_file(gnutls, files->client_ca, GNUTLS_X509_FMT_PEM);
    if (result > 0)
        return ERROR_NONE;
    return refuse_file("cannot read tls_client_ca", files->client_ca,
                       result < 0 ? result : GNUTLS_E_NO_CERTIFICATE_FOUND, error);
}

static bool list_suites(struct suites *suites)
{
    gnutls_priority_t priority;
    unsigned which;
    if (gnutls_priority_init(&priority, tls_priorities, NULL) < 0)
        return false;
    for (unsigned i = 0; suites->count < HELLO_SUITES_MAX; i++) {
        unsigned char id[2];
        int result = gnutls_priority_get_cipher_suite_index(priority, i, &which);
        if (result == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            break;
        if (result >= 0 && gnutls_cipher_suite_info(which, id, NULL, NULL, NULL, NULL))
            suites->list[suites->count++] = (uint16_t)(id[0] << 8 | id[1]);
    }
    gnutls_priority_deinit(priority);
    return true;
}

static void free_credentials(struct tls_credentials *credentials)
{
    gnutls_certificate_free_credentials(credentials->gnutls);
    free(credentials);
}

enum error_code tls_load(struct tls *tls, const struct tls_files *files, struct error *error)
{
    struct tls_credentials *credentials = calloc(1, sizeof *credentials);
    if (!credentials || !list_suites(&credentials->suites) ||
        gnutls_certificate_allocate_credentials(&credentials->gnutls) < 0) {
        free(credentials);
        return error_set(error, ERROR_RESOURCE_EXHAUSTED, NULL, "no memory for certificates");
    }
    credentials->references = 1;
    if (read_files(credentials, files, error) != ERROR_NONE) {
        free_credentials(credentials);
        return error->code;
    }
    pthread_mutex_lock(&tls->lock);
    struct tls_credentials *old = tls->current;
    tls->current = credentials;
    pthread_mutex_unlock(&tls->lock);
    tls_detach(tls, old);
    return ERROR_NONE;
}

/* GnuTLS leaves alerts to its caller, libmicrohttpd, which sends none. */
static int on_hello(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                    const gnutls_datum_t *message)
{
    const struct tls_credentials *credentials = gnutls_db_get_ptr(session);
    (void)type, (void)when, (void)incoming;
    int alert = hello_alert(message->data, message->size, &credentials->suites);
    if (alert < 0)
        return 0;
    gnutls_alert_send(session, GNUTLS_AL_FATAL, (gnutls_alert_description_t)alert);
    return GNUTLS_E_FATAL_ALERT_RECEIVED;
}

/* The first byte of TLS is 22; a method of HTTP begins with a letter. */
static ssize_t pull(gnutls_transport_ptr_t context, void *bytes, size_t size)
{
    struct tls_wire *wire = context;
    ssize_t got = recv(wire->fd, bytes, size, 0);
    bool is_first = got > 0 && !wire->has_begun;
    wire->has_begun |= is_first;
    if (!is_first || (*(char *)bytes & ~0x20) < 'A' || (*(char *)bytes & ~0x20) > 'Z')
        return got;
    wire->on_plain(wire);
    return 0;
}

static void watch_begin(gnutls_session_t session, struct tls_credentials *credentials,
                        struct tls_wire *wire)
{
    gnutls_transport_set_ptr2(session, wire, (gnutls_transport_ptr_t)(intptr_t)wire->fd);
    gnutls_transport_set_pull_function(session, pull);
    gnutls_db_set_ptr(session, credentials);
    gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_CLIENT_HELLO, GNUTLS_HOOK_PRE,
                                       on_hello);
}

struct tls_credentials *tls_attach(struct tls *tls, void *session, struct tls_wire *wire)
{
    pthread_mutex_lock(&tls->lock);
    struct tls_credentials *credentials = tls->current;
    if (credentials)
        credentials->references++;
    pthread_mutex_unlock(&tls->lock);
    if (!credentials)
        return NULL;
    /* A client certificate is requested, not required: a client without one gets an HTTP answer
     * that says so, not a TLS alert. */
    if (credentials->wants_client)
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
    if (gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials->gnutls) >= 0) {
        watch_begin(session, credentials, wire);
        return credentials;
    }
    tls_detach(tls, credentials);
    return NULL;
}

void tls_detach(struct tls *tls, struct tls_credentials *credentials)
{
    if (!credentials)
        return;
    pthread_mutex_lock(&tls->lock);
    bool is_last = --credentials->references == 0;
    pthread_mutex_unlock(&tls->lock);
    if (is_last)
        free_credentials(credentials);
}

enum error_code tls_check_client(const struct tls_credentials *credentials, void *session,
                                 struct error *error)
{
    gnutls_typed_vdata_st purpose = {
        .type = GNUTLS_DT_KEY_PURPOSE_OID,
        .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT,
    };
    unsigned status = 0;
    if (!credentials->wants_client)
        return ERROR_NONE;
    int result = gnutls_certificate_verify_peers(session, &purpose, 1, &status);
    if (result == GNUTLS_E_NO_CERTIFICATE_FOUND)
        return error_set(error, ERROR_FORBIDDEN, NULL,
                         "the request needs a client certificate, and none was shown");
    if (result < 0 || status & GNUTLS_CERT_INVALID)
        return error_set(error, ERROR_FORBIDDEN, NULL, "the client certificate is %s",
                         status & GNUTLS_CERT_EXPIRED            ? "expired"
                         : status & GNUTLS_CERT_NOT_ACTIVATED    ? "not valid yet"
                         : status & GNUTLS_CERT_SIGNER_NOT_FOUND ? "not signed by an authority "
                                                                   "that is trusted here"
                                                                 : "not valid here");
    return ERROR_NONE;
}

bool tls_send(void *session, const char *bytes, size_t size)
{
    return gnutls_record_send(session, bytes, size) == (ssize_t)size;
}

void tls_finish(void *session)
{
    gnutls_bye(session, GNUTLS_SHUT_WR);
}

static bool exchange(gnutls_session_t session, const char *question, size_t question_size,
                     char *answer, size_t size)
{
    int result;
    do
        result = gnutls_handshake(session);
    while (result < 0 && !gnutls_error_is_fatal(result) && result != GNUTLS_E_AGAIN);
    if (result < 0 ||
        gnutls_record_send(session, question, question_size) != (ssize_t)question_size)
        return false;
    for (size_t got = 0; got < size;) {
        ssize_t piece = gnutls_record_recv(session, answer + got, size - got);
        if (piece == 0 || (piece < 0 && gnutls_error_is_fatal((int)piece)) ||
            piece == GNUTLS_E_AGAIN)
            return false;
        got += piece > 0 ? (size_t)piece : 0;
    }
    return true;
}

bool tls_ask(int fd, const char *question, size_t question_size, char *answer, size_t size)
{
    gnutls_session_t session;
    gnutls_certificate_credentials_t nothing;
    if (gnutls_certificate_allocate_credentials(&nothing) < 0)
        return false;
    bool is_answered = false;
    if (gnutls_init(&session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL) >= 0) {
        gnutls_transport_set_int(session, fd);
        is_answered = gnutls_priority_set_direct(session, tls_priorities, NULL) >= 0 &&
                      gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, nothing) >= 0 &&
                      exchange(session, question, question_size, answer, size);
        gnutls_deinit(session);
    }
    gnutls_certificate_free_credentials(nothing);
    return is_answered;
}
