/* greet: what a person who starts the server at a terminal is shown. */
#ifndef SERVER_LIFE_GREET_H
#define SERVER_LIFE_GREET_H

#include "server/net/listen.h"
#include "server/server.h"

/* A first request to try, with the address that was bound, on standard error when that is a
 * terminal; the log stays as it is. */
void greet_terminal(const struct server *server, const struct listeners *listeners);

/* Prints the greeting into `text` of `size` bytes. */
void greet_print(char *text, size_t size, const struct config *config,
                 const struct listener *listener);

#endif
