/* systemd: two of its protocols, without its library: datagrams to NOTIFY_SOCKET, and listening
 * sockets from descriptor 3 on. Without systemd these functions do nothing. */
#ifndef SERVER_NET_SYSTEMD_H
#define SERVER_NET_SYSTEMD_H

#include "server/net/listen.h"

#include <stdint.h>

/* "READY=1", "STOPPING=1", "WATCHDOG=1", ... several with newlines between. */
void systemd_notify(const char *state);

/* How often systemd's watchdog is told that the process lives: half of its limit; 0: never. */
uint64_t systemd_watchdog_ns(void);

/* Takes over the sockets that systemd opened for this process; those named `tls` in the unit
 * (FileDescriptorName=tls) speak TLS. Errors: INVALID_PARAMETER (one is no listening stream socket,
 * or there are too many). */
MUST_CHECK enum error_code systemd_listeners(struct listeners *listeners, struct error *error);

#endif
