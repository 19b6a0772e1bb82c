/* network: addresses, and lists of networks in CIDR form. */
#ifndef SERVER_NET_NETWORK_H
#define SERVER_NET_NETWORK_H

#include "kernels/error.h"

#include <stdbool.h>
#include <stdint.h>

struct sockaddr;

enum { ADDRESS_TEXT_MAX = 64, NETWORKS_MAX = 64 };

/* An IPv4 address is kept as an IPv4-mapped IPv6 address. */
struct address {
    bool is_known; /* false: a Unix socket's */
    uint8_t bytes[16];
};

struct network {
    uint8_t bytes[16];
    int bits;
};

struct networks {
    struct network list[NETWORKS_MAX];
    int count;
    bool holds_unix;
};

struct address address_of(const struct sockaddr *socket);

/* "192.0.2.1", "[2001:db8::1]:443": a port is left out. False when the text is no address. */
bool address_parse(struct address *address, const char *text, int size);

/* Prints "192.0.2.1", "2001:db8::1" or "unix" into `text` of ADDRESS_TEXT_MAX bytes. */
void address_print(const struct address *address, char *text);

/* Prints what counts as one client: an IPv4 address, or an IPv6 network of 64 bits. */
void address_print_client(const struct address *address, char *text);

bool address_is_loopback(const struct address *address);

/* A list of networks with commas: 10.0.0.0/8, 2001:db8::/32, 192.0.2.1, unix. Errors:
 * INVALID_PARAMETER. */
MUST_CHECK enum error_code networks_parse(struct networks *networks, const char *text,
                                          struct error *error);
bool networks_hold(const struct networks *networks, const struct address *address);

#endif
