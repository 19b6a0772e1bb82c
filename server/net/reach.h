/* reach: a client's connection to a server that listens as the setting `listen` says. */
#ifndef SERVER_NET_REACH_H
#define SERVER_NET_REACH_H

#include <stdbool.h>
#include <sys/time.h>

/* Connects to the first of `addresses`; each call on the socket waits for `patience` at most. -1:
 * nobody listens there, or it is no address. */
int reach_first(const char *addresses, struct timeval patience, bool *is_tls);

#endif
