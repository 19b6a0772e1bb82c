/* host: what a Host header may say. */
#ifndef SERVER_HTTP_HOST_H
#define SERVER_HTTP_HOST_H

#include <stdbool.h>

/* Whether it is uri-host [":" port] (RFC 9110, 7.2; RFC 3986, 3.2.2): a name, an IPv4 address, or
 * an IPv6 or later one in brackets. An empty name is one. */
bool host_is_valid(const char *host);

#endif
