/* tls: the server's certificates, and the check of clients' certificates, by GnuTLS. TLS 1.2
 * and 1.3. A connection keeps the credentials that were current when it was accepted; new ones
 * apply to the next. */
#ifndef SERVER_NET_TLS_H
#define SERVER_NET_TLS_H

#include "kernels/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* GnuTLS's priority string: versions and ciphers. */
extern const char tls_priorities[];

/* A gnutls_certificate_retrieve_function3 that finds no certificate. libmicrohttpd insists on such
 * a function but never calls it, because sessions get their credentials from tls_attach. */
extern void (*const tls_no_certificate)(void);

struct tls_credentials;

struct tls {
    pthread_mutex_t lock;
    struct tls_credentials *current;
};

/* PEM files: a certificate with its chain, its key, and the authorities that sign
 * clients' certificates ("" for none: clients need no certificate). */
struct tls_files {
    const char *certificate, *key, *client_ca;
};

void tls_init(struct tls *tls);
void tls_release(struct tls *tls);

/* Replaces the credentials; after an error the old ones stay. Errors: INVALID_PARAMETER, naming the
 * file. */
MUST_CHECK enum error_code tls_load(struct tls *tls, const struct tls_files *files,
                                    struct error *error);

/* What a session reads from. `on_plain` is called when a client speaks plain HTTP to it, before the
 * session fails. */
struct tls_wire {
    int fd;
    bool has_begun;
    void (*on_plain)(struct tls_wire *wire);
};

/* Gives a new connection's session (a gnutls_session_t) the current credentials, before its
 * handshake, and has it send the alerts of hello.h. tls_detach gives the credentials back. The wire
 * lives as long as the session. NULL: there are none, and the connection must end. */
struct tls_credentials *tls_attach(struct tls *tls, void *session, struct tls_wire *wire);
void tls_detach(struct tls *tls, struct tls_credentials *credentials); /* NULL is fine */

/* Checks the client's certificate after the handshake, if the server asks for one.
 * Errors: FORBIDDEN. */
MUST_CHECK enum error_code tls_check_client(const struct tls_credentials *credentials,
                                            void *session, struct error *error);

/* Sends a record at once, or nothing; and says that nothing more will come. */
bool tls_send(void *session, const char *bytes, size_t size);
void tls_finish(void *session);

/* The client's side of one exchange over the connected `fd`: sends `question` and reads `size`
 * bytes. The server's certificate is not checked. */
MUST_CHECK bool tls_ask(int fd, const char *question, size_t question_size, char *answer,
                        size_t size);

#endif
