/* tls: certificates, and who a client's certificate says it is. The only door to GnuTLS. TLS 1.2
 * and 1.3. A connection keeps the credentials that were current when it was accepted; new ones
 * apply to the next. */
#ifndef SERVER_NET_TLS_H
#define SERVER_NET_TLS_H

#include "kernels/error.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* What GnuTLS is told about versions and ciphers. */
extern const char tls_priorities[];

/* A gnutls_certificate_retrieve_function3 that has none: libmicrohttpd must be given one, and is
 * never in need of it, because sessions get their credentials from tls_attach. */
extern void (*const tls_no_certificate)(void);

struct tls_credentials;

struct tls {
    pthread_mutex_t lock;
    struct tls_credentials *current;
};

/* What is read, all PEM: a certificate with its chain, its key, and the authorities that sign
 * clients' certificates ("" for none: clients need no certificate). */
struct tls_files {
    const char *certificate, *key, *client_ca;
};

void tls_init(struct tls *tls);
void tls_release(struct tls *tls);

/* Takes over new credentials, or keeps the old ones. Errors: INVALID_PARAMETER, naming the file. */
MUST_CHECK enum error_code tls_load(struct tls *tls, const struct tls_files *files,
                                    struct error *error);

/* Gives a new connection's session (a gnutls_session_t) the current credentials, before its
 * handshake. They end with tls_detach. NULL: impossible, the connection must end. */
struct tls_credentials *tls_attach(struct tls *tls, void *session);
void tls_detach(struct tls *tls, struct tls_credentials *credentials); /* NULL is fine */

/* After the handshake: whether the client has shown the certificate that is asked for, if any is.
 * Errors: FORBIDDEN. */
MUST_CHECK enum error_code tls_check_client(const struct tls_credentials *credentials,
                                            void *session, struct error *error);

/* Sends a record at once, or nothing; and says that nothing more will come. */
bool tls_send(void *session, const char *bytes, size_t size);
void tls_finish(void *session);

/* A client's side, which does not ask who the server is: sends `question` over the connected `fd`
 * and reads `size` bytes. */
MUST_CHECK bool tls_ask(int fd, const char *question, size_t question_size, char *answer,
                        size_t size);

#endif
