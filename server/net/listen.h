/* listen: the sockets that clients connect to. */
#ifndef SERVER_NET_LISTEN_H
#define SERVER_NET_LISTEN_H

#include "kernels/error.h"

#include <stdbool.h>

enum { LISTENERS_MAX = 16, LISTENER_NAME_MAX = 160 };

struct listener {
    int fd;
    bool is_unix, is_inherited, is_tls;
    bool is_shut;                    /* no new connection is made */
    bool is_loopback;                /* only this machine can reach it */
    char address[LISTENER_NAME_MAX]; /* as bound: "127.0.0.1:41253", "unix:/run/tensord.sock" */
};

struct listeners {
    struct listener list[LISTENERS_MAX];
    int count;
};

/* Binds every address of a list with commas: host:port, [v6]:port, a port alone (on 127.0.0.1),
 * tls: in front of these, unix:/path. A stale Unix socket that nobody serves is replaced. Errors:
 * INVALID_PARAMETER, naming the address and why. */
MUST_CHECK enum error_code listeners_open(struct listeners *listeners, const char *addresses,
                                          struct error *error);

/* Takes over a socket that another process made to listen. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code listeners_adopt(struct listeners *listeners, int fd, bool is_tls,
                                           struct error *error);

/* Refuses new connections. Those that the kernel has made can still be accepted, and TCP handshakes
 * under way may still become connections. An inherited socket is left as it is: it goes on
 * listening for the next process. False where the system cannot refuse them. */
bool listener_shut(struct listener *listener);

/* Closes all listeners, and removes the files of the Unix sockets that listeners_open made. */
void listeners_close(struct listeners *listeners);

/* Whether a listener speaks TLS, or with `tls` false, whether one does not. */
bool listeners_have(const struct listeners *listeners, bool tls);

#endif
