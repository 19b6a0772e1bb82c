/* tls_server: a server that speaks TLS with a certificate of `authority`, as the state of a group
 * of cmocka tests, and one request of it. There is a second authority, `other`, that nobody trusts.
 */
#ifndef TESTS_SUPPORT_HTTP_TLS_SERVER_H
#define TESTS_SUPPORT_HTTP_TLS_SERVER_H

#include "tests/support/http/fixture.h"
#include "tests/support/http/pki.h"

enum { TLS_DAY = 24 * 60 * 60, TLS_CONNECTIONS = 64 /* max_connections */ };

/* The files: server.pem and server.key are the server's. */
struct tls_made {
    struct pki pki;
    struct identity *authority, *other;
    char authority_path[PKI_PATH_MAX], other_path[PKI_PATH_MAX];
};

extern struct tls_made made;

/* Group set-up and tear-down. The certified server asks clients for a certificate of
 * `authority`. */
int tls_start(void **state);
int tls_start_certified(void **state);
int tls_stop(void **state);

/* Makes NAME.pem and NAME.key, valid from two days ago until `to` seconds from now. */
void tls_issue(const char *name, enum pki_kind kind, const struct identity *issuer, long to);

/* A request with TLS over a connection of its own: an inference where `path` is one. False when no
 * answer came. */
MUST_CHECK bool tls_call(struct fixture *f, const char *path, const struct call_tls *tls,
                         struct answer *a);

/* The inference that tls_call makes, and its answer. */
extern const char tls_infer[], tls_sum[], tls_sum_answer[];

/* An inference over TLS is answered right to a client that trusts the authority at this path. */
void tls_expect_computed(struct fixture *f, const char *trusted);

/* Sends SIGHUP; waits until settings were loaded so often since the start. */
void tls_reload(struct fixture *f, int times);

#endif
