/* link: a stream of bytes to Redis, plain or through TLS, by libcurl. */
#ifndef SERVER_FOLLOW_LINK_H
#define SERVER_FOLLOW_LINK_H

#include "server/follow/pause.h"
#include "server/follow/settings.h"

#include <curl/curl.h>
#include <stddef.h>

struct link {
    CURL *curl; /* NULL: not connected */
    struct pause *pause;
    char why[CURL_ERROR_SIZE + 64]; /* what went wrong last */
};

/* False, link->why: no connection. */
MUST_CHECK bool link_open(struct link *link, const struct settings *settings, struct pause *pause);
void link_close(struct link *link);

/* Sends all bytes. False: the link is broken, or nothing moved for `ns`. */
MUST_CHECK bool link_send(struct link *link, const char *data, size_t size, uint64_t ns);

/* Receives at least one byte and returns how many; 0: the link is broken or ended, or nothing came
 * for `ns`. */
size_t link_receive(struct link *link, char *data, size_t room, uint64_t ns);

#endif
