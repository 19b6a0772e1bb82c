/* token_file: the file of tokens (token.h says its lines), read as a list. */
#ifndef SERVER_ACCESS_TOKEN_FILE_H
#define SERVER_ACCESS_TOKEN_FILE_H

#include "server/access/token.h"

/* Reads `path`; the caller drops the list. After an error there is none. Errors: INVALID_PARAMETER,
 * with every line that is wrong and never with a token, RESOURCE_EXHAUSTED. */
MUST_CHECK enum error_code token_list_read(struct clients *clients, const char *path,
                                           struct token **list, int *count, struct error *error);

/* Leaves the tokens' clients and rights, and frees the list; NULL and 0: nothing. */
void token_list_drop(struct clients *clients, struct token *list, int count);

#endif
