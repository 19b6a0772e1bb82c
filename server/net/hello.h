/* hello: what a TLS client's first message offers, as far as it decides whether there can be a
 * connection. libmicrohttpd closes after a handshake that fails, without the alert that says why.
 */
#ifndef SERVER_NET_HELLO_H
#define SERVER_NET_HELLO_H

#include <stddef.h>
#include <stdint.h>

enum { HELLO_SUITES_MAX = 128 };

/* Cipher suites by their registered numbers. */
struct suites {
    uint16_t list[HELLO_SUITES_MAX];
    int count;
};

/* The alert that a ClientHello (its body, without the header of the handshake message) deserves, or
 * -1: 70 protocol_version for nothing from TLS 1.2 on, 40 handshake_failure for no suite of ours
 * (RFC 8446, 4.1.1 and 4.2.1), 120 no_application_protocol for ALPN without HTTP/1.1 and HTTP/1.0
 * (RFC 7301, 3.2), 50 decode_error. */
int hello_alert(const uint8_t *bytes, size_t size, const struct suites *ours);

#endif
