/* server_tls: the client's side of TLS over a connected, blocking socket. It does not ask who the
 * server is: that is not what is measured. */
#ifndef TESTS_BENCH_SERVER_TLS_H
#define TESTS_BENCH_SERVER_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls_side;

/* After the handshake; NULL when it failed. The socket stays the caller's. */
struct tls_side *tls_side_open(int fd);
void tls_side_close(struct tls_side *side); /* NULL is fine */

bool tls_side_send(struct tls_side *side, const char *bytes, size_t size);

/* As recv: 0 at the end, negative when it is broken. */
ssize_t tls_side_recv(struct tls_side *side, char *bytes, size_t size);

#endif
