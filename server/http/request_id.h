/* request_id: what X-Request-Id says, or a new one (UUID version 7). */
#ifndef SERVER_HTTP_REQUEST_ID_H
#define SERVER_HTTP_REQUEST_ID_H

#include <stdint.h>

enum { REQUEST_ID_TEXT_MAX = 129 };

/* A source of ids for one thread. */
struct request_ids {
    uint64_t state;
};

void request_ids_init(struct request_ids *ids);

/* `digits` random hex digits, at least one of them not 0, and a terminator. */
void request_ids_hex(struct request_ids *ids, char *text, int digits);

/* Copies `given` when it is 1 to 128 visible ASCII characters, else makes an id. `text` has
 * REQUEST_ID_TEXT_MAX bytes. */
void request_id_choose(struct request_ids *ids, const char *given, char *text);

#endif
