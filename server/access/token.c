#include "server/access/token.h"

#include "server/access/token_file.h"
#include "server/base/exhausted.h"

#include <string.h>
#include <strings.h>

void tokens_init(struct tokens *tokens, struct clients *clients)
{
    *tokens = (struct tokens){.clients = clients};
    pthread_rwlock_init(&tokens->lock, NULL);
}

void tokens_release(struct tokens *tokens)
{
    token_list_drop(tokens->clients, tokens->list, tokens->count);
    pthread_rwlock_destroy(&tokens->lock);
}

enum error_code tokens_load(struct tokens *tokens, const char *path, struct error *error)
{
    struct token *list;
    int count;
    if (token_list_read(tokens->clients, path, &list, &count, error) != ERROR_NONE)
        return error->code;
    pthread_rwlock_wrlock(&tokens->lock);
    struct token *old = tokens->list;
    int old_count = tokens->count;
    tokens->list = list;
    tokens->count = count;
    pthread_rwlock_unlock(&tokens->lock);
    token_list_drop(tokens->clients, old, old_count);
    return ERROR_NONE;
}

/* Compares every token, also after a match, so that the time tells nothing. */
static const struct token *look_up(const struct tokens *tokens, const uint8_t *digest)
{
    const struct token *found = NULL;
    for (int i = 0; i < tokens->count; i++)
        if (digest_equal(tokens->list[i].digest, digest))
            found = &tokens->list[i];
    return found;
}

/* The credentials after `Bearer `; NULL when the scheme is another one. */
static const char *credentials_of(const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        return NULL;
    authorization += sizeof scheme - 1;
    return authorization + strspn(authorization, " ");
}

enum error_code tokens_find(struct tokens *tokens, const char *authorization, struct bearer *bearer,
                            struct error *error)
{
    uint8_t digest[DIGEST_BYTES];
    const char *secret = credentials_of(authorization);
    *bearer = (struct bearer){0};
    if (!secret)
        return error_set(error, ERROR_UNAUTHENTICATED, NULL,
                         "the request needs a token, in a header Authorization: Bearer <token>");
    if (!digest_of(digest, secret, strlen(secret)))
        return error_no_memory(error);
    pthread_rwlock_rdlock(&tokens->lock);
    const struct token *token = look_up(tokens, digest);
    if (token) {
        *bearer = (struct bearer){token->client, token->requests, token->bytes,
                                  rights_hold(token->rights)};
        clients_hold(tokens->clients, token->client);
    }
    pthread_rwlock_unlock(&tokens->lock);
    if (token)
        return ERROR_NONE;
    return error_set(error, ERROR_UNAUTHENTICATED, NULL, "the token is not known here");
}

void bearer_leave(struct bearer *bearer, struct clients *clients)
{
    rights_leave(bearer->rights);
    clients_leave(clients, bearer->client);
}
