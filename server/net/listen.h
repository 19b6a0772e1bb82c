/* listen: the sockets that clients connect to. */
#ifndef SERVER_NET_LISTEN_H
#define SERVER_NET_LISTEN_H

#include "kernels/error.h"

#include <stdbool.h>
#include <sys/time.h>

enum { LISTENERS_MAX = 16, LISTENER_NAME_MAX = 160 };

struct listener {
    int fd;
    bool is_unix, is_inherited, is_tls;
    bool is_shut;                    /* nobody new gets in */
    bool is_loopback;                /* nobody else can reach it */
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

/* Takes over a socket that somebody else made to listen. Errors: INVALID_PARAMETER. */
MUST_CHECK enum error_code listeners_adopt(struct listeners *listeners, int fd, bool is_tls,
                                           struct error *error);

/* Lets nobody new in; connections that the kernel has made stay to be accepted, and TCP handshakes
 * under way may still become some. An inherited socket is left as it is: it goes on to listen for
 * the next process. False where the system cannot do it. */
bool listener_shut(struct listener *listener);

/* Also removes the files of Unix sockets that we made. */
void listeners_close(struct listeners *listeners);

/* Whether one of them speaks TLS, or one does not. */
bool listeners_have(const struct listeners *listeners, bool tls);
bool listen_wants_tls(const char *addresses);

/* A client's connection to the first of `addresses`, whose calls wait for `patience` at most; -1
 * when nobody is there. */
int listen_reach(const char *addresses, struct timeval patience, bool *is_tls);

#endif
