/* listen_text: the addresses of the setting `listen`: host:port, [v6]:port, a port alone, each with
 * tls: in front or not; unix:/path. */
#ifndef SERVER_NET_LISTEN_TEXT_H
#define SERVER_NET_LISTEN_TEXT_H

#include <stdbool.h>

/* Steps over the prefix tls:, if there is one. */
bool listen_take_tls(const char **address);

/* The path behind unix:; NULL when the address has none. */
const char *listen_unix_path(const char *address);

/* Cuts host:port, [v6]:port or port in place; a port alone is on 127.0.0.1. */
bool listen_split(char *address, char **host, char **port);

/* Whether one of a list of addresses asks for TLS. */
bool listen_wants_tls(const char *addresses);

#endif
