/* systemd: its two small protocols, without its library: a datagram to NOTIFY_SOCKET, and sockets
 * from descriptor 3 on. Without systemd all of it does nothing. */
#ifndef SERVER_NET_SYSTEMD_H
#define SERVER_NET_SYSTEMD_H

#include "server/net/listen.h"

#include <stdint.h>

/* "READY=1", "STOPPING=1", "WATCHDOG=1", ... several with newlines between. */
void systemd_notify(const char *state);

/* How often the watchdog wants to be told that we live: half of its time; 0: never. */
uint64_t systemd_watchdog_ns(void);

/* Sockets that were opened for this process, in front of any of our own; those that the unit names
 * `tls` (FileDescriptorName=tls) speak TLS. Errors: INVALID_PARAMETER
 * (one is no listening stream socket, or there are too many). */
MUST_CHECK enum error_code systemd_listeners(struct listeners *listeners, struct error *error);

#endif
