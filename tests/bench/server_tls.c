#include "tests/bench/server_tls.h"

#include <gnutls/gnutls.h>
#include <stdlib.h>

struct tls_side {
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
};

static bool shake_hands(struct tls_side *side, int fd)
{
    int result;

    gnutls_transport_set_int(side->session, fd);
    if (gnutls_set_default_priority(side->session) < 0 ||
        gnutls_credentials_set(side->session, GNUTLS_CRD_CERTIFICATE, side->credentials) < 0)
        return false;
    do
        result = gnutls_handshake(side->session);
    while (result < 0 && !gnutls_error_is_fatal(result));
    return result == 0;
}

struct tls_side *tls_side_open(int fd)
{
    struct tls_side *side = calloc(1, sizeof(*side));

    if (side == NULL)
        return NULL;
    if (gnutls_certificate_allocate_credentials(&side->credentials) == 0 &&
        gnutls_init(&side->session, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL) == 0 && shake_hands(side, fd))
        return side;
    tls_side_close(side);
    return NULL;
}

void tls_side_close(struct tls_side *side)
{
    if (side == NULL)
        return;
    if (side->session != NULL)
        gnutls_deinit(side->session);
    if (side->credentials != NULL)
        gnutls_certificate_free_credentials(side->credentials);
    free(side);
}

bool tls_side_send(struct tls_side *side, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = gnutls_record_send(side->session, bytes, size);

        if (sent < 0)
            return false;
        bytes += sent;
        size -= (size_t)sent;
    }
    return true;
}

ssize_t tls_side_recv(struct tls_side *side, char *bytes, size_t size)
{
    ssize_t got;

    do
        got = gnutls_record_recv(side->session, bytes, size);
    while (got < 0 && !gnutls_error_is_fatal((int)got));
    return got;
}
